import { within } from './alarm.ts'
import { capture } from './capture.ts'
import type { Launched, Output } from './launch.ts'
import { lineBlocks, linesOf } from './lines.ts'
import { openSessionLog } from './session-log.ts'

const mebibyte = 1024 * 1024

/** Where a program's output goes. */
export interface OutputOptions {
  logFile?: string
  mask?: (text: string) => string
  onLine?: (line: string) => void
  /** Of the texts at the end. Default `utf8`. */
  encoding?: 'utf8' | 'latin1'
}

/** Told while output is read. */
export interface OutputEvents {
  onOutput(): void
  /** What a callback or the log threw. The rest of the output is read and dropped, so that the program can end. */
  onError(error: unknown): void
}

/** The two output streams of one program, from its start to its end. */
export interface Outputs {
  read(program: Launched, events: OutputEvents): void
  /** Waits until the streams end, or nothing more comes: 300 ms of silence, or 1 s in all. */
  drain(): Promise<void>
  /** Stops reading, hands out the last lines, and closes the log. */
  close(): Promise<void>
  /** The beginning and the end of both streams. */
  texts(): { stdout: string; stderr: string }
}

/** Makes ready to read a program's output; opens its log, and throws `write_failed` when that fails. */
export function outputs(options: OutputOptions): Outputs {
  const log =
    options.logFile === undefined ? null : openSessionLog(options.logFile, options.mask ?? ((t) => t))
  const onLine = options.onLine
  const kept = { stdout: capture(mebibyte), stderr: capture(mebibyte) }
  let events: OutputEvents = { onOutput() {}, onError() {} }
  let failed = false
  let bytes = 0
  const attempt = (work: () => void) => {
    if (failed) return
    try {
      work()
    } catch (error) {
      failed = true
      events.onError(error)
    }
  }
  const blocks = {
    stdout: lineBlocks(mebibyte, (block) => {
      log?.add('stdout', block)
      if (onLine) for (const line of linesOf(block, mebibyte)) onLine(line)
    }),
    stderr: lineBlocks(mebibyte, (block) => log?.add('stderr', block)),
  }
  const readers: Reader[] = []
  const take = (stream: 'stdout' | 'stderr') => (chunk: Uint8Array) => {
    bytes += chunk.length
    events.onOutput()
    kept[stream].add(chunk)
    if (log || onLine) attempt(() => blocks[stream].add(chunk))
  }
  return {
    read(program, told) {
      events = told
      readers.push(reader(program.stdout, take('stdout')), reader(program.stderr, take('stderr')))
    },
    async drain() {
      const all = Promise.all(readers.map((each) => each.ended))
      const limit = performance.now() + 1000
      // Short waits, so that the event loop gets to look at the pipes between them even on a busy machine.
      for (let silent = 0; silent < 6 && performance.now() < limit; silent++) {
        const before = bytes
        if (await within(all, 50)) return
        if (bytes > before) silent = 0
      }
    },
    async close() {
      await Promise.all(readers.map((each) => each.stop()))
      attempt(() => {
        blocks.stdout.end()
        blocks.stderr.end()
      })
      // Closed even after an error; a second one says nothing new.
      const wasFailed = failed
      failed = false
      attempt(() => log?.finish())
      failed ||= wasFailed
    },
    texts: () => ({
      stdout: kept.stdout.text(options.encoding),
      stderr: kept.stderr.text(options.encoding),
    }),
  }
}

interface Reader {
  ended: Promise<void>
  stop(): Promise<void>
}

function reader(output: Output, take: (chunk: Uint8Array) => void): Reader {
  const source = output.stream.getReader()
  let stopped = false
  const pump = async () => {
    let turn = performance.now()
    for (;;) {
      const { done, value } = await source.read()
      if (done || stopped) return
      take(value)
      // A stream that always has more would keep every timer and signal of this process waiting.
      if (performance.now() - turn < 10) continue
      await new Promise(setImmediate)
      turn = performance.now()
    }
  }
  // An error of the pipe itself is its end.
  const ended = pump().catch(() => {})
  return {
    ended,
    async stop() {
      stopped = true
      await within(
        source.cancel().catch(() => {}),
        500,
      )
      output.close()
    },
  }
}
