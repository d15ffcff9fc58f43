import type { Death } from '../api/hooks.ts'
import type { Phase } from '../api/work.ts'
import { budget, iterations, plateau, remainingBudget, remainingIterations, type Trip } from './brakes.ts'
import { contextFloor, type RoleContext } from './budget.ts'
import type { LoopConfig } from './config.ts'
import { taskHaltDetail } from './loop.ts'
import type { LoopState } from './state.ts'

/** Everything that the gate looks at, gathered beforehand. */
export interface GateFacts {
  loop: string
  /** Null: the loop has no state. */
  state: LoopState | null
  config: LoopConfig | null
  refusal: {
    kind: 'config' | 'no_git' | 'no_base_branch' | 'harness' | 'sandbox'
    why: string
    fix: string
  } | null
  /** Context windows in tokens: as declared, and as this machine can hold them. */
  contexts: RoleContext[]
  /** The current task; null when the loop has none. */
  task: { phase: Phase } | 'missing' | null
  allowedPhases: readonly Phase[]
  outOfScope: string[]
  /** What was tampered with, with or without `tamper:` before it. */
  tamper: string | null
  /** What implement and verify resolve to. */
  models: { count: number; implement: string | null; verify: string | null }
}

/** The gate's answer, with the keys of the contract (section 5). */
export interface GateResult {
  ok: boolean
  /** `ok`, `halted:<death>`, `paused`, `complete`, `untracked` or `refused:<what>`. */
  reason: string
  halt_reason: Death | null
  remaining_iterations: number
  remaining_budget_usd: number | null
  task_phase: Phase | null
  task_in_halt_loop: boolean
  out_of_scope_files: string[]
  detail: string
  /** One thing to do; empty when there is nothing. */
  fix: string
  /** What the caller must persist. */
  effect: 'none' | 'halt' | 'release' | 'complete'
}

/**
 * The gate: what is stored first, then what refuses a tick without halting, then the seven checks in order. The first
 * that fails decides.
 */
export function checkGate(facts: GateFacts): GateResult {
  const stored = storedStatus(facts)
  if (stored) return stored
  const { state, config, refusal } = facts
  if (refusal) return refuse(facts, { what: refusal.kind, detail: refusal.why, fix: refusal.fix })
  if (state === null || config === null) {
    return refuse(facts, { what: 'config', detail: 'loop.json is missing', fix: 'write loop.json again' })
  }
  const { brakes } = config
  const spent = iterations(state, brakes) ?? budget(state, brakes)
  if (spent) return halt(facts, spent)
  const floor = contextRefusal(facts)
  if (floor) return floor
  const trip = taskTrip(facts) ?? driftTrip(facts) ?? plateau(state, brakes) ?? modelTrip(facts, config)
  return trip ? halt(facts, trip) : pass(facts, config)
}

function storedStatus(facts: GateFacts): GateResult | null {
  const { loop, state } = facts
  if (state === null) {
    return closed(facts, {
      reason: 'untracked',
      detail: 'the loop has no state',
      fix: `automaton repair ${loop}`,
    })
  }
  switch (state.status) {
    case 'running':
      return null
    case 'paused':
      return closed(facts, {
        reason: 'paused',
        detail: 'a person paused the loop',
        fix: `automaton resume-loop ${loop}`,
      })
    case 'complete':
      return closed(facts, { reason: 'complete', detail: 'the task of this loop is done', fix: '' })
    case 'halted':
      return storedHalt(facts, state)
  }
}

function storedHalt(facts: GateFacts, state: LoopState): GateResult {
  const reason = state.halt?.reason ?? 'human_intervention'
  const id = state.halt ? ` --halt ${state.halt.id}` : ''
  const answer = closed(facts, {
    reason: `halted:${reason}`,
    detail: state.halt?.detail ?? '',
    fix: `automaton approve --loop ${facts.loop}${id}`,
  })
  const files = facts.outOfScope.length > 0 ? facts.outOfScope : (state.halt?.files ?? [])
  return { ...answer, ...inHalt(facts, reason), out_of_scope_files: files }
}

/** Check 3's second half: a session that cannot hold its prompt is not worth starting. */
function contextRefusal(facts: GateFacts): GateResult | null {
  const short = facts.contexts.filter((context) => !(context.effective >= contextFloor))
  if (short.length === 0) return null
  return refuse(facts, { what: 'context_floor', detail: floorWords(short), fix: contextFix(short) })
}

/** What is wrong with windows below the floor. */
export function floorWords(short: readonly RoleContext[]): string {
  const words = short.map((context) => `${context.role}: ${contextWords(context)}`)
  return `context window below 16k floor (${words.join(', ')})`
}

/** `13926 tokens of tier 32000, by nvidia-smi`. */
function contextWords({ effective, tier, via }: RoleContext): string {
  return `${effective} tokens of tier ${tier}${via !== null && effective < tier ? `, by ${via}` : ''}`
}

/** What a person can do about windows below the floor: one thing that helps all of them, where there is one. Empty for none. */
export function contextFix(short: readonly RoleContext[]): string {
  const [first] = short
  if (first === undefined) return ''
  const { role, tier, source } = first
  if (tier < contextFloor) return `set roles.${role}.tier in loop.json to ${contextFloor} or more`
  const isOne = short.every((context) => context.role === role)
  const override = `context_override${isOne ? `.${role}` : ''}: ${contextFloor} or more in config.md, if the model can hold that`
  switch (source) {
    case 'override':
      return `raise context_override in config.md to ${contextFloor} or more, or take it out`
    case 'server':
      return `load the model with a context of ${contextFloor} or more, or set ${override}`
    default:
      return `set backend: remote in config.md, if the model runs elsewhere; else ${override}`
  }
}

/** Check 4. */
function taskTrip({ task, allowedPhases }: GateFacts): Trip | null {
  if (task === null || task === 'missing' || task.phase === 'complete') return null
  const detail = taskHaltDetail(task.phase)
  if (task.phase === 'human_intervention') return { reason: 'human_intervention', detail }
  return allowedPhases.includes(task.phase) ? null : { reason: 'drift_detected', detail }
}

/** Check 5. */
function driftTrip({ tamper, outOfScope }: GateFacts): Trip | null {
  if (tamper !== null) {
    return {
      reason: 'drift_detected',
      detail: tamper.startsWith('tamper:') ? tamper : `tamper:${tamper}`,
    }
  }
  if (outOfScope.length === 0) return null
  const noun = outOfScope.length === 1 ? 'file' : 'files'
  return { reason: 'drift_detected', detail: `${outOfScope.length} ${noun} out of scope` }
}

/** Check 7. Ids are compared as they are; two roles that both leave the choice to the harness run the same model. */
function modelTrip({ models }: GateFacts, config: LoopConfig): Trip | null {
  if (config.roles.allow_same_model || models.count < 2 || models.implement !== models.verify) return null
  return { reason: 'human_intervention', detail: 'model_divergence' }
}

function halt(facts: GateFacts, trip: Trip): GateResult {
  const answer = closed(facts, {
    reason: `halted:${trip.reason}`,
    detail: trip.detail,
    fix: haltFix(facts, trip),
  })
  return { ...answer, ...inHalt(facts, trip.reason), effect: 'halt' }
}

function haltFix({ loop, state }: GateFacts, { detail }: Trip): string {
  const approve = `automaton approve --loop ${loop}`
  if (detail === 'model_divergence') {
    return `set roles.implement.model and roles.verify.model in loop.json to two different ids, then: ${approve}`
  }
  if (detail === 'budget_unknown') {
    return `use a harness that reports its cost, or set brakes.unknown_cost to "ignore", then: ${approve}`
  }
  if (detail === taskHaltDetail('human_intervention') && state?.current_task) {
    return `automaton approve --task ${state.current_task}, then: ${approve}`
  }
  return approve
}

/** All checks passed; a task that is done with is let go. */
function pass(facts: GateFacts, config: LoopConfig): GateResult {
  const { task } = facts
  const open: GateResult = { ...base(facts), ok: true, reason: 'ok' }
  if (task === null) return open
  if (task === 'missing') return { ...open, detail: 'the current task no longer exists', effect: 'release' }
  if (task.phase !== 'complete') return open
  if (config.work_source.kind !== 'single') {
    return { ...open, detail: 'the current task is complete', effect: 'release' }
  }
  const detail = 'the task of this loop is done'
  return { ...open, ok: false, reason: 'complete', detail, effect: 'complete' }
}

function refuse(facts: GateFacts, refusal: { what: string; detail: string; fix: string }): GateResult {
  const { what, detail, fix } = refusal
  return closed(facts, { reason: `refused:${what}`, detail, fix })
}

function closed(facts: GateFacts, answer: Pick<GateResult, 'reason' | 'detail' | 'fix'>): GateResult {
  return { ...base(facts), ...answer }
}

function inHalt(facts: GateFacts, reason: Death): Pick<GateResult, 'halt_reason' | 'task_in_halt_loop'> {
  return { halt_reason: reason, task_in_halt_loop: facts.state?.current_task != null }
}

function base({ state, config, task, outOfScope }: GateFacts): GateResult {
  const brakes = config?.brakes ?? null
  return {
    ok: false,
    reason: '',
    halt_reason: null,
    remaining_iterations:
      brakes && state ? remainingIterations(state, brakes) : (brakes?.max_iterations ?? 0),
    remaining_budget_usd: brakes && state ? remainingBudget(state, brakes) : (brakes?.max_budget_usd ?? null),
    task_phase: phaseOf(state, task),
    task_in_halt_loop: false,
    out_of_scope_files: outOfScope,
    detail: '',
    fix: '',
    effect: 'none',
  }
}

/** A loop that cannot run has its task's phase as it was last seen. */
function phaseOf(state: LoopState | null, task: GateFacts['task']): Phase | null {
  if (task === 'missing' || !state?.current_task) return null
  return task?.phase ?? state.current_phase
}
