import type { Death } from '../api/hooks.ts'
import type { Verdict } from '../api/verdict.ts'
import type { Phase } from '../api/work.ts'

/** Where a loop stands; moves are functions in `loop.ts`. */
export type LoopStatus = 'running' | 'paused' | 'halted' | 'complete'

/** Why and when a loop halted. */
export interface Halt {
  /** Names this one halt; an approval is for one id. */
  id: string
  reason: Death
  /** More than the reason, such as `budget_unknown`, `tamper:loop.json`, `repeated_crash`. */
  detail: string
  at: string
  files: string[]
}

/** Money and tokens that sessions reported. */
export interface Cost {
  usd: number
  tokens: number
}

/** `.state.loop`. Times are ISO-8601 UTC. */
export interface LoopState {
  schema_version: 1
  name: string
  /** The number of the last log record; a state that does not match its log is refused. */
  seq: number
  status: LoopStatus
  halt: Halt | null
  /** Worked ticks, ever. */
  iteration_count: number
  /** `iteration_count` at the last approval. */
  iteration_base: number
  resumed_count: number
  wall_seconds: number
  wall_base: number
  /** `reported` is false as soon as one session since the last approval reported no money. */
  cost: Cost & { reported: boolean }
  cost_base: Cost
  current_task: string | null
  current_phase: Phase | null
  claimed_at: string | null
  last_task: string | null
  score_history: number[]
  /** Worked ticks in a row whose verdict failed. */
  fail_streak: number
  consecutive_errors: number
  /** Ticks that died, in a row. */
  incomplete_ticks: number
  /** An agent's limit ends then: no scheduled tick before it; null when there is nothing to wait for. */
  not_before: string | null
  next_hint: string
  last_verdict: (Verdict & { tick: number; phase: Phase; task: string }) | null
  /** Commit id that drift is measured from; null before the first worktree. */
  base_sha: string | null
  /** The loop branch's last commit that automaton made or checked. */
  verified_sha: string | null
  /** The loop branch's commit when the current task last entered its phase. */
  phase_sha: string | null
  schedule: { enabled: boolean; kind: string | null }
  /** SHA-256 of the last log line, hex. */
  log_head: string
  created_at: string
  /** Start of the last tick, worked or not. */
  last_tick_at: string | null
  last_work_at: string | null
  updated_at: string
}

/** A loop that has never ticked. */
export function freshState(name: string, at: string): LoopState {
  return {
    schema_version: 1,
    name,
    seq: 0,
    status: 'running',
    halt: null,
    iteration_count: 0,
    iteration_base: 0,
    resumed_count: 0,
    wall_seconds: 0,
    wall_base: 0,
    cost: { usd: 0, tokens: 0, reported: true },
    cost_base: { usd: 0, tokens: 0 },
    current_task: null,
    current_phase: null,
    claimed_at: null,
    last_task: null,
    score_history: [],
    fail_streak: 0,
    consecutive_errors: 0,
    incomplete_ticks: 0,
    not_before: null,
    next_hint: '',
    last_verdict: null,
    base_sha: null,
    verified_sha: null,
    phase_sha: null,
    schedule: { enabled: false, kind: null },
    log_head: '',
    created_at: at,
    last_tick_at: null,
    last_work_at: null,
    updated_at: at,
  }
}
