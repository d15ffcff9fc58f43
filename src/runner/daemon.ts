import { isDue, nextDue } from '../machine/due.ts'
import { peek } from '../store/journal.ts'
import { loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { exec } from '../system/exec.ts'
import { wait } from '../system/wait.ts'
import type { Deps } from './deps.ts'
import { readSetting } from './setting.ts'

const maxSleepMs = 30_000
const minSleepMs = 50
// A refused tick leaves no trace in the state, and stays due: it is not tried again at once.
const retryMs = 30_000
// A tick ends its own session within its grace period and cleans up; the daemon waits longer than that.
const tickGraceMs = 15_000

/** Which loops, and how many ticks at once. */
export interface DaemonOptions {
  /** Empty: every running loop that is not `manual`. */
  loops: string[]
  parallel: number
  /** Told after each tick; `output` is its JSON object, or its error's. */
  onTick(event: { loop: string; exitCode: number | null; output: string }): void
}

/** Ticks loops when they are due, each tick its own process, until told to stop. Returns how many ticks it ran. */
export async function daemon(deps: Deps, options: DaemonOptions): Promise<{ ticks: number }> {
  const running = new Map<string, Promise<void>>()
  const lastRun = new Map<string, number>()
  let ticks = 0
  while (!deps.signal.aborted) {
    const due = dueLoops({ deps, options, running, lastRun })
    due.ready.sort((a, b) => (lastRun.get(a) ?? 0) - (lastRun.get(b) ?? 0))
    for (const loop of due.ready.slice(0, options.parallel - running.size)) {
      ticks += 1
      lastRun.set(loop, deps.clock.seconds())
      const done = runTick(loop, deps, options).finally(() => running.delete(loop))
      running.set(loop, done)
    }
    const sleep = running.size >= options.parallel ? maxSleepMs : Math.min(due.waitMs, maxSleepMs)
    await Promise.race([...running.values(), wait(Math.max(sleep, minSleepMs), deps.signal)])
  }
  await Promise.all(running.values())
  return { ticks }
}

/** Reads every loop's configuration again, so that an edit counts from the next cycle on. */
function dueLoops(o: {
  deps: Deps
  options: DaemonOptions
  running: ReadonlyMap<string, unknown>
  /** When each loop was last ticked, by the clock of seconds. */
  lastRun: ReadonlyMap<string, number>
}) {
  const { deps, options, running } = o
  const ready: string[] = []
  let waitMs = maxSleepMs
  const now = deps.clock.now()
  const named = options.loops.length > 0
  for (const loop of named ? options.loops : listLoops(deps.project)) {
    if (running.has(loop)) continue
    const places = loopPlaces(deps.project, loop)
    const { state } = peek(places)
    const { config } = readSetting(places, deps.project, deps.home)
    if (state?.status !== 'running' || !config) continue
    if (!named && config.schedule.kind === 'manual') continue
    const intervalSeconds = config.schedule.interval_seconds
    const when = { lastTickAt: state.last_tick_at, intervalSeconds, notBefore: state.not_before, now }
    const since = (deps.clock.seconds() - (o.lastRun.get(loop) ?? Number.NEGATIVE_INFINITY)) * 1000
    const pause = Math.min(retryMs, (intervalSeconds * 1000) / 2) - since
    if (isDue(when) && pause <= 0) ready.push(loop)
    else waitMs = Math.min(waitMs, isDue(when) ? pause : nextDue(when).getTime() - now.getTime())
  }
  return { ready, waitMs }
}

async function runTick(loop: string, deps: Deps, options: DaemonOptions): Promise<void> {
  const argv = [...deps.self, 'tick', loop, '--json', '--project', deps.project.root]
  const env = Object.fromEntries(
    Object.entries(deps.env).filter((e): e is [string, string] => e[1] !== undefined),
  )
  const result = await exec({ argv, cwd: deps.project.root, env, signal: deps.signal, graceMs: tickGraceMs })
  options.onTick({ loop, exitCode: result.exitCode, output: result.stdout || result.stderr })
}
