import { resolve } from 'node:path'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { turnAt } from '../machine/turns.ts'
import { daemon as run } from '../runner/daemon.ts'
import type { Sight } from '../runner/sight.ts'
import type { TickProcess } from '../runner/tick-process.ts'
import { type DaemonStatus, removeDaemonStatus, writeDaemonStatus } from '../store/daemon-status.ts'
import { ownPid } from '../system/platform.ts'
import { haltWords } from './halt-words.ts'
import { existingLoop } from './held.ts'

/** How the daemon runs. */
export interface DaemonOptions {
  /** Empty: all that run. */
  loops: string[]
  parallel: number
  /** End when no loop can go on without a person or new work. */
  untilIdle: boolean
  /** Where it says how it is; null: nowhere. */
  statusFile: string | null
}

/** Who is told what happens. */
export interface DaemonEars {
  onTick(tick: TickProcess): void
  /** A loop is seen for the first time, or is in another state than it was; null: there is none. */
  onLoop(loop: LoopNow | null): void
}

/** One loop, and what keeps it from ticking. */
export type LoopNow = DaemonStatus['loops'][number] & { intervalSeconds: number | null }

/** What the daemon did, and how it left the loops. */
export interface DaemonReport {
  ticks: number
  loops: DaemonStatus['loops']
}

/** Ticks the named loops (none: all that run) when they are due, until automaton is told to stop. */
export async function daemon(app: App, options: DaemonOptions, ears: DaemonEars): Promise<DaemonReport> {
  const project = app.project()
  for (const loop of options.loops) existingLoop(project, loop)
  if (options.parallel < 1) {
    throw errors.usage('bad value (--parallel)', 'it is no whole number from 1 up', 'automaton daemon --help')
  }
  const file = options.statusFile === null ? null : resolve(app.cwd, options.statusFile)
  const startedAt = app.clock.iso()
  let loops: LoopNow[] = []
  const tell = changes(ears)
  try {
    const { ticks } = await run(await app.deps(), {
      ...options,
      onTick: ears.onTick,
      onLook(sights, { ticking, ticks }) {
        const now = app.clock.now()
        loops = sights.map((sight) => loopNow(sight, ticking.includes(sight.loop), now))
        tell(loops)
        if (file === null) return
        const at = now.toISOString()
        const about = { pid: ownPid, started_at: startedAt, at, ticks }
        writeDaemonStatus(file, { schema: 1, ...about, loops: loops.map(published) })
      },
    })
    return { ticks, loops: loops.map(published) }
  } finally {
    if (file !== null) removeDaemonStatus(file)
  }
}

/** Tells what is new. A loop that ticks is in the state that it was in. */
function changes({ onLoop }: DaemonEars): (loops: readonly LoopNow[]) => void {
  let before: Map<string, string> | null = null
  return (loops) => {
    if (before === null && loops.length === 0) onLoop(null)
    const known = before ?? new Map<string, string>()
    before = known
    for (const loop of loops) {
      const { status, detail, intervalSeconds } = loop
      const state = [status === 'ticking' ? 'running' : status, detail, intervalSeconds].join(' ')
      if (known.get(loop.loop) !== state) onLoop(loop)
      known.set(loop.loop, state)
    }
  }
}

function loopNow({ loop, state, problem, turn }: Sight, isTicking: boolean, now: Date): LoopNow {
  if (turn) {
    const status = isTicking ? ('ticking' as const) : ('running' as const)
    const next = isTicking ? null : turnAt(turn, now).toISOString()
    return { loop, status, next_tick_at: next, detail: null, intervalSeconds: turn.intervalSeconds }
  }
  const off = { loop, next_tick_at: null, intervalSeconds: null }
  if (state?.halt) {
    return { ...off, status: 'halted', detail: `${haltWords(state.halt)}; automaton approve --loop ${loop}` }
  }
  if (state?.status === 'paused') return { ...off, status: 'paused', detail: `automaton resume-loop ${loop}` }
  if (state?.status === 'complete') return { ...off, status: 'complete', detail: null }
  const why = problem ? `${problem.message}; ${problem.fix}` : 'it has no state'
  return { ...off, status: 'unreadable', detail: why }
}

function published({ intervalSeconds: _, ...loop }: LoopNow): DaemonStatus['loops'][number] {
  return loop
}
