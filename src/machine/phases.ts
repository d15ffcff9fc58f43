import type { Phase } from '../api/work.ts'
import { artifactOf, backPhase, isReview, loopPhases, nextPhase, verdictWays } from './phase-table.ts'
import type { TaskState } from './task.ts'
import { edgeByVerdict, readVerdictLine } from './verdict-line.ts'

export { artifactOf, isReview, keptPhases, loopPhases, nextPhase } from './phase-table.ts'
export { edgeByVerdict, readVerdictLine } from './verdict-line.ts'

/** One edge that somebody asks for. */
export interface Transition {
  task: TaskState
  to: Phase
  /** `human`, `agent`, or `loop:<name>`. */
  actor: string
  /** The text of the artifact that the phase being left needs; null when there is no such file. */
  artifact: string | null
  kept: readonly Phase[]
  /** The session that worked the phase being left. A `modelCount` under 2 turns the model rule off. */
  reviewer: { session: string | null; model: string | null; modelCount: number }
  reason: string
  /** The loop that holds the task in its own state, where there is one. */
  owner?: string | null
}

/** Why an edge was refused: the rule's name, what broke it, and one thing to do. */
export interface Refusal {
  ok: false
  rule: string
  why: string
  fix: string
}

type Check = { ok: true } | Refusal

/** Whether the edge may be walked, by the rules of the contract (section 4); the first rule that it breaks is named. */
export function checkTransition(edge: Transition): Check {
  const { task, to, reason } = edge
  if (task.phase === 'complete')
    return refuse('terminal', 'a complete task stays complete', 'create a new task')
  if (task.phase === 'human_intervention') {
    return refuse('approval', 'only a person lets a task leave human_intervention', approveTask(task))
  }
  if (to === 'human_intervention') {
    if (reason.trim() !== '') return { ok: true }
    return refuse('reason', 'human_intervention needs a reason', 'say why, with --reason TEXT')
  }
  if (task.phase === 'design') {
    return refuse('approval', 'only a person lets a task leave design', approveTask(task))
  }
  return firstRefusal([edgeRule, whoRule, claimRule, artifactRule, verdictRule, conflictRule], edge)
}

/** Whether a person's `approve --task` may move the task, and where to when they named no phase. */
export function checkApproval(approval: {
  task: TaskState
  to: Phase | null
  kept: readonly Phase[]
}): { ok: true; to: Phase } | Refusal {
  const { task, to, kept } = approval
  if (task.phase === 'design') {
    const next = nextPhase('design', kept)
    if (next === null || (to !== null && to !== next)) return edgeRefusal(task, to ?? 'complete', next)
    if (task.design_ref !== null) return { ok: true, to: next }
    const fix = `create the task again with --design REF`
    return refuse('artifact', 'leaving design needs a design reference, and the task has none', fix)
  }
  if (task.phase !== 'human_intervention') {
    const why = `the task is in ${task.phase}, which needs no approval`
    return refuse('approval', why, `automaton task ${task.task}`)
  }
  const target = to ?? phaseBefore(task, kept)
  if (target !== 'human_intervention' && kept.includes(target)) return { ok: true, to: target }
  const choices = kept.filter((phase) => phase !== 'human_intervention').join(', ')
  return refuse('edge', `${target} is no phase to go back to`, `choose one of ${choices}`)
}

/** The task after the edge. The caller has checked it. */
export function applyTransition(
  task: TaskState,
  step: {
    to: Phase
    actor: string
    at: string
    session: string | null
    model: string | null
    note: string
    /** Why a person is needed; read only on the way to human_intervention, where `note` stands in for null. */
    blocked: string | null
  },
): TaskState {
  const { to, actor, at, session, model, note, blocked } = step
  const seq = (task.history.at(-1)?.seq ?? 0) + 1
  return {
    ...task,
    phase: to,
    previous_phase: task.phase,
    blocked_reason: to === 'human_intervention' ? (blocked ?? note) : null,
    claimed_by: to === 'complete' ? null : task.claimed_by,
    sessions: session === null ? task.sessions : { ...task.sessions, [task.phase]: session },
    models: model === null ? task.models : { ...task.models, [task.phase]: model },
    history: [...task.history, { seq, at, from: task.phase, to, actor, session, model, note }],
    updated_at: at,
  }
}

function firstRefusal(rules: readonly ((edge: Transition) => Refusal | null)[], edge: Transition): Check {
  for (const rule of rules) {
    const refusal = rule(edge)
    if (refusal) return refusal
  }
  return { ok: true }
}

function edgeRule({ task, to, kept }: Transition): Refusal | null {
  const next = nextPhase(task.phase, kept)
  if (to === next || (to === backPhase(task.phase, kept) && to !== task.phase)) return null
  return edgeRefusal(task, to, next)
}

function whoRule({ task, actor }: Transition): Refusal | null {
  if (!actor.startsWith('loop:') || loopPhases.includes(task.phase)) return null
  return refuse('who', `loops do not work ${task.phase}`, `automaton transition ${task.task} implement`)
}

function claimRule({ task, actor, owner }: Transition): Refusal | null {
  if (actor === 'human') return null
  const holder = task.claimed_by ?? (owner ? `loop:${owner}` : null)
  if (holder === null || holder === actor || holder.startsWith(`${actor}:`)) return null
  return refuse('claim', `${holder} has claimed the task`, `automaton release ${task.task}`)
}

function artifactRule({ task, to, artifact, kept }: Transition): Refusal | null {
  const name = artifactOf(task.phase)
  // Going back from decompose says that the design is not enough: that needs no finished TASK.md.
  if (name === null || (task.phase === 'decompose' && to !== nextPhase('decompose', kept))) return null
  if (artifact === null || artifact.trim() === '') {
    return refuse(
      'artifact',
      `leaving ${task.phase} needs ${name}, and it is missing or empty`,
      `write ${name}`,
    )
  }
  return task.phase === 'decompose' ? briefRule(task, artifact) : null
}

/** TASK.md counts when scope and criteria are in it, or in the task's state. */
function briefRule(task: TaskState, brief: string): Refusal | null {
  const missing = [
    task.scope.length > 0 || /^#[^\n]*scope/im.test(brief) ? null : 'scope',
    task.acceptance_criteria.length > 0 || /^#[^\n]*criteri/im.test(brief) ? null : 'acceptance criteria',
  ].filter((part) => part !== null)
  if (missing.length === 0) return null
  const what = missing.join(' and ')
  return refuse('artifact', `TASK.md names no ${what}`, `add a heading for ${what} to TASK.md`)
}

function verdictRule({ task, to, artifact, kept }: Transition): Refusal | null {
  const ways = verdictWays(task.phase)
  if (ways === null || artifact === null) return null
  const name = artifactOf(task.phase) ?? 'the artifact'
  const words = Object.keys(ways).join(', ')
  const word = readVerdictLine(task.phase, artifact)
  if (word === null) {
    return refuse(
      'verdict',
      `${name} has no clear verdict line`,
      `end ${name} with "Verdict:" and one of ${words}`,
    )
  }
  const leads = edgeByVerdict({ phase: task.phase, artifact, kept })
  if (leads === to) return null
  const why = `${name} says ${word}, which leads to ${leads ?? 'no phase that this project keeps'}, not to ${to}`
  return refuse('verdict', why, leads ? `automaton transition ${task.task} ${leads}` : `correct ${name}`)
}

function conflictRule({ task, reviewer }: Transition): Refusal | null {
  if (!isReview(task.phase)) return null
  const { session, model, modelCount } = reviewer
  if (session !== null && implementers(task).has(session)) {
    const why = `session ${session} implemented the task, so it cannot also judge it`
    return refuse('session_conflict', why, `let a new session work ${task.phase}`)
  }
  if (modelCount >= 2 && model !== null && model === task.models.implement) {
    const why = `model ${model} implemented the task, and models.json names another that could judge it`
    return refuse('model_conflict', why, `let another model work ${task.phase}`)
  }
  return null
}

function implementers(task: TaskState): Set<string> {
  const sessions = task.history.filter((entry) => entry.from === 'implement').map((entry) => entry.session)
  return new Set([...sessions, task.sessions.implement].filter((session) => typeof session === 'string'))
}

function phaseBefore(task: TaskState, kept: readonly Phase[]): Phase {
  const before = task.previous_phase ?? 'implement'
  return kept.includes(before) ? before : (nextPhase(before, kept) ?? 'implement')
}

function edgeRefusal(task: TaskState, to: Phase, next: Phase | null): Refusal {
  const why = `${task.phase} does not lead to ${to}`
  return refuse('edge', why, next === null ? `automaton task ${task.task}` : `the way forward is ${next}`)
}

function approveTask(task: TaskState): string {
  return `automaton approve --task ${task.task}`
}

function refuse(rule: string, why: string, fix: string): Refusal {
  return { ok: false, rule, why, fix }
}
