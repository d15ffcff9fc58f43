import { within } from './alarm.ts'
import { lineBlocks, linesOf } from './lines.ts'
import { killTree } from './tree.ts'

/** A process that runs one plugin, seen from the process that started it. */
export interface PluginProcess {
  /** Throws for what cannot be copied to another process. */
  send(message: unknown): void
  /** Why it ended, in words that go on from the plugin's name; never before its last message has been handed over. */
  readonly ended: Promise<string>
  /** Ends it and what it started, at once. */
  kill(): void
}

/** What {@link startPluginProcess} needs. */
export interface PluginProcessOptions {
  /** Program and arguments. */
  argv: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  onMessage(message: unknown): void
  /** What it prints, line by line. A flood is read to its end and not handed on. */
  onLine(line: string): void
}

/** How much of what a plugin prints is handed on, in lines and bytes of each stream. */
const shownLines = 200
const shownBytes = 64 << 10
/** How long the exit and the end of the channel may lie apart, in milliseconds. */
const settleMs = 300

/**
 * Starts a process whose messages come on a channel of their own, so that nothing that it prints is taken for one. It
 * stays in this process's session: its terminal's Ctrl-C is left to its parent, with which it ends.
 */
export function startPluginProcess(o: PluginProcessOptions): PluginProcess {
  const exited = Promise.withResolvers<string>()
  const disconnected = Promise.withResolvers<string>()
  const child = Bun.spawn([...o.argv], {
    cwd: o.cwd,
    env: o.env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    windowsHide: true,
    serialization: 'advanced',
    ipc: o.onMessage,
    onExit: (_, code, signal) => exited.resolve(endOf(code, signal)),
    onDisconnect: () => disconnected.resolve('it closed its channel to automaton'),
  })
  child.unref()
  void readLines(child.stdout, o.onLine)
  void readLines(child.stderr, o.onLine)
  return {
    send: (message) => void child.send(message),
    ended: endOfBoth(exited.promise, disconnected.promise),
    kill() {
      // While it lives, what it started is known to be its own.
      void killTree({ leader: { pid: child.pid, group: child.pid, start: null }, runId: null, graceMs: 0 })
      child.kill('SIGKILL')
    },
  }
}

/** The last messages come before the channel closes; the exit says more than the channel. */
async function endOfBoth(exited: Promise<string>, disconnected: Promise<string>): Promise<string> {
  const first = await Promise.race([exited, disconnected])
  await within(Promise.all([exited, disconnected]), settleMs)
  return Promise.race([exited, first])
}

function endOf(code: number | null, signal: number | string | null): string {
  return signal ? `its process was ended by ${signal}` : `it ended its process with exit code ${code}`
}

async function readLines(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  let lines = 0
  let bytes = 0
  const blocks = lineBlocks(4096, (block) => {
    for (const line of linesOf(block, 4096)) {
      lines += 1
      bytes += line.length
      if (lines <= shownLines && bytes <= shownBytes) onLine(line)
      else if (lines - 1 <= shownLines && bytes - line.length <= shownBytes) onLine('… (more is not shown)')
      if (lines > shownLines || bytes > shownBytes) return
    }
  })
  try {
    for await (const chunk of stream) if (lines <= shownLines && bytes <= shownBytes) blocks.add(chunk)
    blocks.end()
  } catch {
    // A pipe that breaks ends what there is to show.
  }
}
