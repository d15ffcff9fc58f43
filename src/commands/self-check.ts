import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { AutomatonError, errors } from '../errors.ts'
import { plainReason } from '../store/atomic.ts'
import { sessionEnv } from '../system/environment.ts'
import { systemDetails } from '../system/platform.ts'
import { realPath } from '../system/real-path.ts'
import { removeTree } from '../system/remove.ts'
import type { Bench } from './self-check/bench.ts'

/** One thing that this binary was asked to do. */
export interface SelfCheck {
  what: string
  ok: boolean
  /** What it did, or why it could not. */
  why: string
  seconds: number
}

/** What this binary can do on this machine. */
export interface SelfReport {
  ok: boolean
  version: string
  /** System, processor and the system's own version, such as `linux x64 6.1.0`. */
  system: string
  checks: SelfCheck[]
  seconds: number
}

/** In order; each in a folder of its own. */
const checks: readonly { what: string; run(bench: Bench): Promise<string> }[] = [
  { what: 'write', run: async (bench) => (await import('./self-check/files.ts')).write(bench) },
  { what: 'lock', run: async (bench) => (await import('./self-check/files.ts')).lock(bench) },
  { what: 'spawn', run: async (bench) => (await import('./self-check/programs.ts')).spawn(bench) },
  { what: 'kill', run: async (bench) => (await import('./self-check/programs.ts')).kill(bench) },
  { what: 'worktree', run: async (bench) => (await import('./self-check/repository.ts')).worktree(bench) },
  { what: 'drift', run: async (bench) => (await import('./self-check/repository.ts')).drift(bench) },
  { what: 'plugin', run: async (bench) => (await import('./self-check/plugin.ts')).plugin(bench) },
  { what: 'sandbox', run: async (bench) => (await import('./self-check/sandbox.ts')).sandbox(bench) },
]

/**
 * Has this binary do what a tick is made of, by the code that a tick uses, in a temporary folder that is gone afterwards.
 * It needs no project and no configuration. A check that fails does not keep the others from running.
 */
export async function selfCheck(app: App): Promise<SelfReport> {
  const started = app.clock.seconds()
  const folder = temporary()
  const done: SelfCheck[] = []
  for (const { what, run } of checks) {
    if (app.signal.aborted) break
    done.push(await checkOne(app, { what, run: async () => run(benchIn(app, join(folder, what))) }))
  }
  done.push(await checkOne(app, { what: 'clean', run: async () => clean(folder) }))
  return {
    ok: done.every(({ ok }) => ok),
    version: app.version,
    system: systemDetails(),
    checks: done,
    seconds: app.clock.seconds() - started,
  }
}

/** A folder of our own. Throws `write_failed`. */
function temporary(): string {
  try {
    return realPath(mkdtempSync(join(tmpdir(), 'automaton-self-')))
  } catch (error) {
    throw errors.writeFailed(tmpdir(), plainReason(error), error)
  }
}

function benchIn(app: App, folder: string): Bench {
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const extra = { HOME: home, USERPROFILE: home, AUTOMATON_HOME: join(home, '.automaton') }
  return { app, folder, home, env: sessionEnv({ env: app.env, extra, allowed: [] }) }
}

/** On Windows a file that was just closed may stay in use for a moment. */
function clean(folder: string): string {
  removeTree(folder)
  return 'nothing of it is left'
}

async function checkOne(
  { clock }: App,
  { what, run }: { what: string; run(): Promise<string> },
): Promise<SelfCheck> {
  const started = clock.seconds()
  const [ok, why] = await run().then(
    (said) => [true, said] as const,
    (error) => [false, reason(error)] as const,
  )
  return { what, ok, why, seconds: clock.seconds() - started }
}

function reason(error: unknown): string {
  if (error instanceof AutomatonError) return `${error.message}; fix: ${error.fix}`
  return error instanceof Error ? error.message : String(error)
}
