import type { Death } from '../api/hooks.ts'
import type { Brakes } from './config.ts'
import type { LoopState } from './state.ts'

/** A brake that holds: why the loop must halt. */
export interface Trip {
  reason: Death
  detail: string
}

/** Worked ticks since the last approval against `max_iterations`. */
export function iterations(state: LoopState, brakes: Brakes): Trip | null {
  if (remainingIterations(state, brakes) > 0) return null
  const used = state.iteration_count - state.iteration_base
  return { reason: 'iterations_exhausted', detail: `${used} of ${brakes.max_iterations} iterations used` }
}

/**
 * Money, tokens and wall seconds since the last approval, each against its cap. Under a money cap, a session that
 * reported no money stops the loop, unless `unknown_cost` says otherwise.
 */
export function budget(state: LoopState, brakes: Brakes): Trip | null {
  const { max_budget_usd, max_tokens, max_wall_seconds } = brakes
  const usd = state.cost.usd - state.cost_base.usd
  if (max_budget_usd !== null) {
    if (usd >= max_budget_usd) return spent(`${usd.toFixed(2)} of ${max_budget_usd} USD used`)
    if (!state.cost.reported && brakes.unknown_cost === 'halt') return spent('budget_unknown')
  }
  const tokens = state.cost.tokens - state.cost_base.tokens
  if (max_tokens !== null && tokens >= max_tokens) return spent(`${tokens} of ${max_tokens} tokens used`)
  const wall = state.wall_seconds - state.wall_base
  if (max_wall_seconds !== null && wall >= max_wall_seconds) {
    return spent(`${Math.round(wall)} of ${max_wall_seconds} seconds used`)
  }
  return null
}

/**
 * The circuit breaker: the last N scores are flat or falling and the last N worked ticks all failed. Good scores in a
 * row are flat too, so scores alone never trip it.
 */
export function plateau(state: LoopState, brakes: Brakes): Trip | null {
  const window = brakes.score_plateau_window
  if (window < 2 || state.fail_streak < window || state.score_history.length < window) return null
  const scores = state.score_history.slice(-window)
  // Binary fractions: 0.61 - 0.6 is a little over 0.01.
  const step = brakes.score_epsilon + 1e-9
  const rises = scores.some((score, i) => i > 0 && score > (scores[i - 1] ?? score) + step)
  if (rises) return null
  return { reason: 'verifier_failed', detail: `no progress in ${window} ticks: scores ${scores.join(', ')}` }
}

/** Ticks that may still be worked before the next approval. */
export function remainingIterations(state: LoopState, brakes: Brakes): number {
  return Math.max(0, brakes.max_iterations - (state.iteration_count - state.iteration_base))
}

/** US dollars that may still be spent before the next approval; null without a cap. */
export function remainingBudget(state: LoopState, brakes: Brakes): number | null {
  if (brakes.max_budget_usd === null) return null
  return Math.max(0, brakes.max_budget_usd - (state.cost.usd - state.cost_base.usd))
}

/** Checks 2, 3 and 6 in their order: what holds the loop at the end of a worked tick. */
export function firstBrake(state: LoopState, brakes: Brakes): Trip | null {
  return iterations(state, brakes) ?? budget(state, brakes) ?? plateau(state, brakes)
}

function spent(detail: string): Trip {
  return { reason: 'budget_exhausted', detail }
}
