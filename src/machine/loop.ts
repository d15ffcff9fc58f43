import type { Death } from '../api/hooks.ts'
import type { Verdict } from '../api/verdict.ts'
import type { Phase } from '../api/work.ts'
import type { Halt, LoopState, LoopStatus } from './state.ts'

/** What can be done to a loop's status. */
export type LoopVerb = 'pause' | 'resume' | 'halt' | 'approve' | 'complete'

/** Where each verb starts from. Only `approve` leaves a halt, and nothing leaves `complete`. */
const startsFrom: Record<LoopVerb, LoopStatus> = {
  pause: 'running',
  resume: 'paused',
  halt: 'running',
  approve: 'halted',
  complete: 'running',
}

/** Whether the verb is a legal move from the status; callers ask before they move. */
export function canMove(status: LoopStatus, verb: LoopVerb): boolean {
  return startsFrom[verb] === status
}

/** running → paused. */
export function pauseLoop(state: LoopState, at: string): LoopState {
  return { ...unscheduled(state), status: 'paused', updated_at: at }
}

/** paused → running. */
export function resumeLoop(state: LoopState, at: string): LoopState {
  return { ...rescheduled(state), status: 'running', updated_at: at }
}

/** running → complete, which lets go of the task. */
export function completeLoop(state: LoopState, at: string): LoopState {
  return { ...unscheduled(releaseTask(state, at)), status: 'complete' }
}

/** running → halted. The task stays claimed, so that an approved loop goes on where it was. */
export function haltLoop(
  state: LoopState,
  halt: { id: string; reason: Death; detail: string; files: readonly string[]; at: string },
): LoopState {
  const { id, reason, detail, at } = halt
  return {
    ...unscheduled(state),
    status: 'halted',
    halt: { id, reason, detail, at, files: [...halt.files] },
    updated_at: at,
  }
}

/**
 * halted → running: what was used so far no longer counts against the brakes, and the records of failure are cleared.
 * A loop that halted over its task's phase lets go of the task, or it would halt again at once.
 */
export function approveLoop(state: LoopState, at: string): LoopState {
  const kept = state.halt && isTaskHalt(state.halt) ? releaseTask(state, at) : state
  return {
    ...rescheduled(kept),
    status: 'running',
    halt: null,
    resumed_count: state.resumed_count + 1,
    iteration_base: state.iteration_count,
    wall_base: state.wall_seconds,
    cost: { ...state.cost, reported: true },
    cost_base: { usd: state.cost.usd, tokens: state.cost.tokens },
    score_history: [],
    fail_streak: 0,
    consecutive_errors: 0,
    incomplete_ticks: 0,
    not_before: null,
    updated_at: at,
  }
}

/** What installs (`kind` is the scheduler's name) or removes the loop's unit. Only a loop that runs is ticked by it. */
export function scheduleLoop(state: LoopState, kind: string | null, at: string): LoopState {
  const enabled = kind !== null && state.status === 'running'
  return { ...state, schedule: { enabled, kind }, updated_at: at }
}

/** The unit of a loop that does not run is off; `kind` remembers whose it is. */
function unscheduled(state: LoopState): LoopState {
  return { ...state, schedule: { ...state.schedule, enabled: false } }
}

function rescheduled(state: LoopState): LoopState {
  return { ...state, schedule: { ...state.schedule, enabled: state.schedule.kind !== null } }
}

/** The `detail` of a halt over the phase that the current task is in. */
export function taskHaltDetail(phase: Phase): string {
  return `task:${phase}`
}

function isTaskHalt(halt: Halt): boolean {
  return halt.detail.startsWith('task:')
}

/** Takes a task, or notes the phase that the task at hand has come to. A hint is about one task and goes with it. */
export function claimTask(state: LoopState, claim: { task: string; phase: Phase; at: string }): LoopState {
  const { task, phase, at } = claim
  const isHeld = state.current_task === task
  return {
    ...state,
    current_task: task,
    current_phase: phase,
    claimed_at: isHeld ? (state.claimed_at ?? at) : at,
    next_hint: task === (state.current_task ?? state.last_task) ? state.next_hint : '',
    updated_at: at,
  }
}

/** Lets go of the task at hand; `last_task` remembers it. */
export function releaseTask(state: LoopState, at: string): LoopState {
  return {
    ...state,
    current_task: null,
    current_phase: null,
    claimed_at: null,
    phase_sha: null,
    last_task: state.current_task ?? state.last_task,
    updated_at: at,
  }
}

/** What sessions cost; `reported` is false when one of them named no money. */
export interface Spent {
  usd: number
  tokens: number
  reported: boolean
}

/** What a worked tick found. */
export interface TickFacts {
  /** When the tick settled, and when it started; ISO-8601 UTC. */
  at: string
  startedAt: string
  wallSeconds: number
  task: string
  /** The phase that was worked. */
  phase: Phase
  /** The phase that the task is in now. */
  phaseAfter: Phase
  /** Null when none could be read, or none was asked for. */
  verdict: Verdict | null
  /** What this tick's sessions reported. */
  cost: Spent
  /** The task is done with, or waits for a person. */
  releasedTask: boolean
  /** The loop branch's commit after the tick; null when it did not move. */
  verifiedSha: string | null
  /** The commit at which the task entered the phase that it is in now; null when it did not enter one. */
  phaseSha: string | null
  /** `score_plateau_window`. */
  window: number
}

/** The one change of state that a worked tick makes (contract, section 6, steps 8 to 10). Halting is a separate move. */
export function settle(state: LoopState, tick: TickFacts): LoopState {
  const count = state.iteration_count + 1
  const settled: LoopState = {
    ...state,
    ...scored(state, tick, count),
    iteration_count: count,
    wall_seconds: state.wall_seconds + amount(tick.wallSeconds),
    cost: charged(state, tick.cost),
    current_task: tick.task,
    current_phase: tick.phaseAfter,
    last_task: tick.task,
    consecutive_errors: 0,
    incomplete_ticks: 0,
    not_before: null,
    verified_sha: tick.verifiedSha ?? state.verified_sha,
    phase_sha: phaseSha(state, tick),
    last_tick_at: tick.startedAt,
    last_work_at: tick.at,
    updated_at: tick.at,
  }
  return tick.releasedTask ? releaseTask(settled, tick.at) : settled
}

/** A tick whose harness failed: it spent, but it is no iteration. */
export function failTick(state: LoopState, tick: EndedEarly): LoopState {
  return { ...spentTick(state, tick), consecutive_errors: state.consecutive_errors + 1, not_before: null }
}

/** A tick that ran into an agent's limit whose end is known: neither an iteration nor an error. */
export function waitTick(state: LoopState, tick: EndedEarly & { notBefore: string }): LoopState {
  return { ...spentTick(state, tick), not_before: tick.notBefore }
}

/** What a tick spent that did not come to its end; times are ISO-8601 UTC. */
export interface EndedEarly extends Spent {
  at: string
  startedAt: string
  seconds: number
}

function spentTick(state: LoopState, tick: EndedEarly): LoopState {
  return {
    ...chargeTick(state, tick),
    incomplete_ticks: 0,
    last_tick_at: tick.startedAt,
    updated_at: tick.at,
  }
}

/** The state with what a tick has spent so far, as the brakes look at it before the next session. */
export function chargeTick(state: LoopState, spent: Spent & { seconds: number }): LoopState {
  return { ...state, wall_seconds: state.wall_seconds + amount(spent.seconds), cost: charged(state, spent) }
}

/** A tick that died: what it is known to have spent is charged, and it counts (`counted`) unless a person ended it. */
export function abandonTick(
  state: LoopState,
  tick: Spent & { at: string; seconds: number; counted: boolean },
): LoopState {
  return {
    ...chargeTick(state, tick),
    incomplete_ticks: state.incomplete_ticks + (tick.counted ? 1 : 0),
    updated_at: tick.at,
  }
}

/** A tick that died and cannot be cleaned up after yet: it counts, and is charged once it can. */
export function stuckTick(state: LoopState, at: string): LoopState {
  return { ...state, incomplete_ticks: state.incomplete_ticks + 1, updated_at: at }
}

function charged(state: LoopState, spent: Spent): LoopState['cost'] {
  return {
    usd: state.cost.usd + amount(spent.usd),
    tokens: state.cost.tokens + amount(spent.tokens),
    reported: state.cost.reported && spent.reported,
  }
}

/** Scores of one task in one phase are comparable; others start a new history. No verdict, no change. */
function scored(state: LoopState, tick: TickFacts, count: number): Partial<LoopState> {
  const { verdict, task, phase } = tick
  if (verdict === null) return {}
  const last = state.last_verdict
  const continues = last !== null && last.task === task && last.phase === phase
  const history = continues ? state.score_history : []
  const failed = (continues ? state.fail_streak : 0) + 1
  return {
    score_history: [...history, verdict.score].slice(-Math.max(1, tick.window)),
    fail_streak: verdict.pass ? 0 : failed,
    next_hint: verdict.next_hint.slice(0, hintLimit),
    last_verdict: { ...verdict, tick: count, phase, task },
  }
}

/** 1,000 tokens. */
const hintLimit = 4000

function phaseSha(state: LoopState, tick: TickFacts): string | null {
  if (tick.phaseSha !== null) return tick.phaseSha
  return tick.phaseAfter === tick.phase ? state.phase_sha : (tick.verifiedSha ?? state.verified_sha)
}

/** What a session reports is a claim: a number that is none, or is negative, never gives money back. */
function amount(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0
}
