import { alarm, within } from './alarm.ts'
import { type Launched, type LaunchOptions, launch } from './launch.ts'
import { outputs } from './outputs.ts'
import { identify, type ProcessIdentity } from './process.ts'
import { type Killed, killTree, mayHaveLeft, registerProgram, type Tree } from './tree.ts'

/** A program to run, and its limits. */
export interface ExecOptions extends LaunchOptions {
  /** Milliseconds that it may take; absent: no limit. */
  timeoutMs?: number
  /** Milliseconds that it may print nothing; absent: no limit. */
  idleMs?: number
  /** Milliseconds between SIGTERM and SIGKILL when it has to be ended. Default 3,000. */
  graceMs?: number
  signal?: AbortSignal
  /** Where standard output and error go as they come: the first 4 MiB and the last 1 MiB, masked. */
  logFile?: string
  /** Hides secrets in the log. What the result holds is as the program wrote it. */
  mask?: (text: string) => string
  /** Of what the result holds; `latin1` keeps every byte as one character. Default `utf8`. */
  encoding?: 'utf8' | 'latin1'
  /** Gets each line of standard output, at most 1 MiB of it. A throw ends the program, and `exec` throws it. */
  onLine?: (line: string) => void
  /** Called right after the start; the result waits for it. A throw ends the program, and `exec` throws it. */
  onSpawn?: (who: Spawned) => void | Promise<void>
  /** The value of `AUTOMATON_RUN_ID` in `env`: what carries it is ended with the program, wherever it went. */
  runId?: string
}

/** The started program. */
export interface Spawned extends ProcessIdentity {
  /** Its process group, which is also its session. */
  group: number
}

/** How a program ended. */
export interface ExecResult {
  /** Null when a signal ended it, or it never started. */
  exitCode: number | null
  /** The signal that ended it. */
  signal: string | null
  /** What made it end: itself, a limit, or the abort signal. */
  ended: 'exit' | 'timeout' | 'idle' | 'aborted'
  /** Standard output; over 1 MiB only its beginning and end. */
  stdout: string
  /** Standard error, likewise. */
  stderr: string
  seconds: number
  /** How many processes outlived the program, or SIGTERM when it was stopped, and were ended. */
  survivors: number
  /** Something that it started could not be ended, and runs on. */
  lives: boolean
}

/**
 * Runs a program to its end, and ends everything that it started: when this returns, nothing of it runs any more,
 * unless `lives` says so.
 * The end is the program's own, not that of its pipes, which a process left behind could hold open.
 * A program that fails is a result; throws only when it cannot be started (see {@link launch}), its log cannot be
 * written, or a callback throws.
 */
export async function exec(options: ExecOptions): Promise<ExecResult> {
  if (options.signal?.aborted) return neverStarted
  const started = performance.now()
  const output = outputs(options)
  const program = launchOrClose(options, output)
  using registered = registerProgram(program.child.pid)
  const { child } = program
  const tree: Tree = {
    leader: { pid: child.pid, group: child.pid, start: registered.start },
    runId: options.runId ?? null,
  }
  using end = firstOf(options)
  output.read(program, { onOutput: end.heard, onError: end.fail })
  const announced = announce(options, child.pid).catch(end.fail)

  await Promise.race([child.exited, end.stopped])
  const ended = end.settle()
  const graceMs = options.graceMs ?? 3000
  let survivors = 0
  let lives = false
  if (ended === 'exit') {
    await output.drain()
    if (mayHaveLeft(tree)) {
      const killed = await killTree({ ...tree, graceMs: Math.min(graceMs, 500) })
      survivors = killed.all
      lives = killed.lives
    }
  } else {
    const killed = await stop(program, { ...tree, graceMs })
    survivors = killed.forced
    lives = killed.lives
  }
  await output.drain()
  await Promise.all([output.close(), announced])
  end.rethrow()
  return {
    exitCode: child.signalCode === null ? child.exitCode : null,
    signal: child.signalCode === null ? null : String(child.signalCode),
    ended,
    ...output.texts(),
    seconds: (performance.now() - started) / 1000,
    survivors,
    lives,
  }
}

const neverStarted: ExecResult = {
  exitCode: null,
  signal: null,
  ended: 'aborted',
  stdout: '',
  stderr: '',
  seconds: 0,
  survivors: 0,
  lives: false,
}

function launchOrClose(options: ExecOptions, output: { close(): Promise<void> }): Launched {
  try {
    return launch(options)
  } catch (error) {
    void output.close()
    throw error
  }
}

async function announce({ onSpawn }: ExecOptions, pid: number): Promise<void> {
  await onSpawn?.({ pid, start: 'unknown', boot: 'unknown', ...identify(pid), group: pid })
}

/** What ends a program before its own end: a limit, the abort signal, or an error; the first one counts. */
function firstOf(options: ExecOptions) {
  const stopped = Promise.withResolvers<void>()
  let reason: Exclude<ExecResult['ended'], 'exit'> | null = null
  let settled = false
  let failure: { error: unknown } | null = null
  const stop = (why: NonNullable<typeof reason>) => {
    if (settled || reason) return
    reason = why
    stopped.resolve()
  }
  const onAbort = () => stop('aborted')
  options.signal?.addEventListener('abort', onAbort)
  const timeout = alarm(options.timeoutMs, () => stop('timeout'))
  const idle = alarm(options.idleMs, () => stop('idle'))
  return {
    stopped: stopped.promise,
    heard: idle.restart,
    fail(error: unknown) {
      failure ??= { error }
      stop('aborted')
    },
    /** From here on nothing changes how it ended. */
    settle(): ExecResult['ended'] {
      settled = true
      return reason ?? 'exit'
    },
    rethrow() {
      if (failure) throw failure.error
    },
    [Symbol.dispose]() {
      options.signal?.removeEventListener('abort', onAbort)
      timeout.cancel()
      idle.cancel()
    },
  }
}

/** Ends the program and its tree. One that cannot be killed (it hangs in the kernel) is given up after some seconds. */
async function stop({ child }: Launched, tree: Tree & { graceMs: number }): Promise<Killed> {
  const killed = await killTree(tree)
  await within(child.exited, 2000)
  child.unref()
  return killed
}
