import type { Death } from '../api/hooks.ts'
import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import type { LoopStatus } from '../machine/state.ts'
import { loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { loopFacts } from './loop-facts.ts'

/** Where the last scores go. */
export type Trend = 'rising' | 'falling' | 'flat'

/** One loop in a row. */
export interface LoopLine {
  loop: string
  /** Null: there is no readable state. */
  status: LoopStatus | null
  /** A tick is at work now. */
  ticking: boolean
  task: string | null
  phase: Phase | null
  /** Worked ticks since the last approval, and how many there may be. */
  iteration: number
  max_iterations: number | null
  score: number | null
  trend: Trend | null
  last_tick_at: string | null
  next_tick_at: string | null
  /** Until when an agent's limit keeps it from ticking. */
  waits_until: string | null
  halt_reason: Death | null
  halt_detail: string | null
  problem: string | null
}

/** Every loop of the project. */
export interface LoopListReport {
  /** When the list was made. */
  at: string
  loops: LoopLine[]
}

/** Lists the loops by name. Reads only. */
export function loopList(app: App): LoopListReport {
  const project = app.project()
  const now = app.clock.now()
  const loops = listLoops(project).map((name): LoopLine => {
    const { state, config, isTicking, nextTickAt, waitsUntil, problems } = loopFacts(
      loopPlaces(project, name),
      now,
    )
    return {
      loop: name,
      status: state?.status ?? null,
      ticking: isTicking,
      task: state?.current_task ?? null,
      phase: state?.current_phase ?? null,
      iteration: state ? state.iteration_count - state.iteration_base : 0,
      max_iterations: config?.brakes.max_iterations ?? null,
      score: state?.last_verdict?.score ?? null,
      trend: trendOf(state?.score_history ?? [], config?.brakes.score_epsilon ?? 0.01),
      last_tick_at: state?.last_tick_at ?? null,
      next_tick_at: nextTickAt,
      waits_until: waitsUntil,
      halt_reason: state?.halt?.reason ?? null,
      halt_detail: state?.halt?.detail ?? null,
      problem: problems[0]?.what ?? null,
    }
  })
  return { at: app.clock.iso(), loops }
}

/** The last step of the scores; null with fewer than two. */
export function trendOf(scores: readonly number[], epsilon: number): Trend | null {
  const [before, last] = scores.slice(-2)
  if (before === undefined || last === undefined) return null
  if (Math.abs(last - before) <= epsilon) return 'flat'
  return last > before ? 'rising' : 'falling'
}
