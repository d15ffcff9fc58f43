import type { OutputReader } from '../api/harness.ts'
import type { HarnessLike } from './roles.ts'

type Call = (method: string, args: unknown[]) => Promise<unknown>

/** How much may wait for a reader that is slower than its agent, in characters. */
const longestQueue = 256 << 20
/** Lines go in batches of about this many characters. */
const batch = 256 << 10

/** A reader in another process: lines are sent as they come, the next batch when the last one was read. */
export function remoteReader(call: Call, made: number): ReturnType<HarnessLike['reader']> {
  const open = call('reader', [made])
  let queue: string[] = []
  let queued = 0
  let failed: { error: unknown } | null = null
  let pump: Promise<void> | null = null

  async function send(): Promise<void> {
    const number = await open
    while (queue.length > 0) {
      const lines = takeBatch()
      await call('lines', [number, lines])
    }
  }

  function takeBatch(): string[] {
    let length = 0
    const end = queue.findIndex((line) => {
      length += line.length
      return length > batch
    })
    const lines = queue.splice(0, end < 0 ? queue.length : end + 1)
    for (const line of lines) queued -= line.length
    return lines
  }

  function start(): void {
    pump ??= send()
      .catch((error: unknown) => {
        failed ??= { error }
        queue = []
      })
      .finally(() => {
        pump = null
      })
  }
  // A failure is told by the end.
  start()

  return {
    line(text) {
      if (failed) return
      queued += text.length
      if (queued > longestQueue) {
        failed = { error: new Error('it reads more slowly than its agent writes') }
        queue = []
        return
      }
      queue.push(text)
      start()
    },
    async end(end: Parameters<OutputReader['end']>[0]) {
      while (pump) await pump
      if (failed) throw failed.error
      return (await call('end', [await open, end])) as never
    },
  }
}
