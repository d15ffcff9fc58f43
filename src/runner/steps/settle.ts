import { existsSync } from 'node:fs'
import type { ReadVerdict, Verdict } from '../../api/verdict.ts'
import type { Phase } from '../../api/work.ts'
import { budget, iterations, plateau } from '../../machine/brakes.ts'
import type { Intent } from '../../machine/intent.ts'
import { completeLoop, haltLoop, pauseLoop, settle as settleState } from '../../machine/loop.ts'
import { applyTransition } from '../../machine/phases.ts'
import type { Halt, LoopState } from '../../machine/state.ts'
import type { TaskState } from '../../machine/task.ts'
import { writeAtomic } from '../../store/atomic.ts'
import { commit } from '../../store/journal.ts'
import { collectGarbage, outputFile } from '../../store/outputs.ts'
import { readTask, withTasks, writeTask } from '../../store/tasks.ts'
import { removeTree } from '../../system/remove.ts'
import { quoteArgument } from '../../system/repository.ts'
import { branchOf } from '../facts.ts'
import { isTamper, makeHalt } from '../halt.ts'
import type { Remembered } from '../remembered.ts'
import type { TickReport } from '../report.ts'
import type { Scene, Work } from '../scene.ts'
import type { Made } from './implement.ts'

/** Everything that a worked tick decided, to be written at once. */
export interface Outcome {
  scene: Scene
  state: LoopState
  work: Work
  made: Made
  /** Null when the tick halted before a verdict. */
  graded: ReadVerdict | null
  intent: Intent
  verifySession: string | null
  /** What the verifiers want to keep. */
  remembered: Remembered | null
  /** A halt that the tick itself found: drift, tampering, an unreadable verdict. */
  halt: Halt | null
}

/** Writes a worked tick: the task's step, one log line, one state rename; then brakes, garbage, hooks. */
export async function settle(outcome: Outcome): Promise<TickReport> {
  const { scene, work, graded } = outcome
  const { deps, places, config } = scene
  keepVerdict(outcome)
  const closing = await withTasks(deps.project, () => writeOutcome(outcome), { waitMs: taskWaitMs })
  outcome.remembered?.write(graded?.verdict.pass === true)
  // One that came while this was written was not read any more: the next tick does what it asks.
  if (closing.state.status !== 'running') removeTree(places.pauseRequest)
  scene.warnings.push(...collectGarbage(places, config.outputs.retention))
  const { halt, status } = closing.state
  if (graded) {
    await deps.host.emit('verdict', {
      loop: places.name,
      tick: scene.tick,
      task: work.task,
      verdict: graded.verdict,
    })
  }
  if (closing.to === 'complete') await deps.host.emit('complete', doneWith(scene, work))
  if (halt) await announceHalt(scene, halt)
  return {
    loop: places.name,
    recovered: null,
    warnings: scene.warnings,
    outcome: 'worked',
    tick: scene.tick,
    task: work.task,
    from: work.phase,
    to: closing.to,
    verdict: graded?.verdict ?? null,
    action: actionOf(outcome),
    why: outcome.intent.reason,
    halt,
    complete: status === 'complete',
    spent: scene.ledger.spent(),
  }
}

/** Sessions are paid for by now, and nobody keeps the tasks to himself for so long. */
const taskWaitMs = 120_000

function writeOutcome(outcome: Outcome): { state: LoopState; to: Phase } {
  const { scene } = outcome
  const task = advance(outcome)
  const next = close(outcome, task)
  const entry = {
    type: 'tick',
    run: scene.run,
    by: 'tick',
    at: next.state.updated_at,
    data: recordOf(outcome, task, next.state),
    task,
    mend: isTamper(next.state.halt),
  }
  const state = commit(scene.places, outcome.state, next.state, entry, () => {
    if (task) writeTask(scene.deps.project, task)
  })
  return { ...next, state }
}

function doneWith({ places, deps, config, repo }: Scene, { task }: Work) {
  const project = deps.project.root
  const isOwn = config.blast_radius.worktree && repo !== null
  const fix = isOwn ? `git -C ${quoteArgument(project)} merge ${branchOf(places.name)}` : ''
  return { loop: places.name, project, task, fix }
}

/** Tells whoever listens that the loop stopped, with what a person types next. */
export async function announceHalt(
  { deps, places }: Pick<Scene, 'deps' | 'places'>,
  halt: Halt,
): Promise<void> {
  await deps.host.emit('halt', {
    loop: places.name,
    project: deps.project.root,
    reason: halt.reason,
    detail: halt.detail,
    haltId: halt.id,
    fix: `automaton status ${places.name}`,
  })
}

/** The task after this tick's operation; null when it stays as it is. */
function advance(outcome: Outcome): TaskState | null {
  const { scene, work, made, intent } = outcome
  const task = readTask(scene.deps.project, work.task)
  if (!task || !('phase' in task) || task.phase !== work.phase) {
    scene.warnings.push(`${work.task} was moved by somebody else during the tick`)
    return null
  }
  if (intent.action === 'hold') return null
  return applyTransition(task, {
    to: intent.action === 'escalate' ? 'human_intervention' : intent.to,
    actor: `loop:${scene.places.name}`,
    at: scene.deps.clock.iso(),
    session: made.session.id,
    model: made.session.model,
    note: intent.reason,
    blocked: intent.action === 'escalate' ? intent.reason : null,
  })
}

/** The loop's state after the tick, its brakes evaluated. */
function close(outcome: Outcome, task: TaskState | null): { state: LoopState; to: Phase } {
  const { scene, work, made, graded } = outcome
  const { config, places } = scene
  const at = scene.deps.clock.iso()
  const spent = scene.ledger.spent()
  const to = task?.phase ?? work.phase
  const verified = outcome.halt || !made.result ? outcome.state.verified_sha : made.result
  const isWorktree = config.blast_radius.worktree && scene.repo !== null
  let state = settleState(outcome.state, {
    at,
    startedAt: scene.startedAt,
    wallSeconds: spent.seconds,
    task: work.task,
    phase: work.phase,
    phaseAfter: to,
    verdict: graded && withRefusal(graded.verdict, outcome.intent),
    cost: { usd: spent.usd, tokens: spent.tokens, reported: spent.reported },
    releasedTask: to === 'complete' || to === 'human_intervention',
    verifiedSha: isWorktree ? verified : null,
    phaseSha: to === work.phase ? outcome.state.phase_sha : made.result,
    window: config.brakes.score_plateau_window,
  })
  const halt = outcome.halt ?? haltOf(outcome, state, to)
  if (halt) return { state: haltLoop(state, halt), to }
  if (to === 'complete' && config.work_source.kind === 'single') return { state: completeLoop(state, at), to }
  if (existsSync(places.pauseRequest)) state = pauseLoop(state, at)
  return { state, to }
}

/** Good work that may not move on would be made again just so: the next session is told what stood in its way. */
function withRefusal(verdict: Verdict, intent: Intent): Verdict {
  if (!verdict.pass || intent.action !== 'hold') return verdict
  const why = `The task stayed in its phase: ${intent.reason}.`
  return { ...verdict, next_hint: [why, verdict.next_hint].filter((text) => text !== '').join(' ') }
}

function haltOf({ scene, intent }: Outcome, state: LoopState, to: Phase): Halt | null {
  const { config, deps } = scene
  const at = deps.clock.iso()
  if (to === 'human_intervention') {
    return makeHalt('human_intervention', intent.action === 'hold' ? 'escalated' : intent.reason, at)
  }
  // A loop whose one task is done has nothing left to brake.
  if (to === 'complete' && config.work_source.kind === 'single') return null
  const { brakes } = config
  const tripped = iterations(state, brakes) ?? budget(state, brakes) ?? plateau(state, brakes)
  return tripped ? makeHalt(tripped.reason, tripped.detail, at) : null
}

function actionOf({ intent }: Outcome): string {
  return intent.action === 'transition' ? `transition to ${intent.to}` : intent.action
}

function recordOf(outcome: Outcome, task: TaskState | null, next: LoopState): Record<string, unknown> {
  const { scene, work, made, graded } = outcome
  return {
    tick: scene.tick,
    task: work.task,
    phase: work.phase,
    phase_after: task?.phase ?? work.phase,
    verdict: graded?.verdict ?? null,
    action: actionOf(outcome),
    reason: outcome.intent.reason,
    halt: next.halt,
    sessions: { implement: made.session.id, verify: outcome.verifySession },
    model: made.session.model,
    result: made.result,
    spent: scene.ledger.spent(),
    warnings: scene.warnings,
    out_of_scope: made.outOfScope,
  }
}

function keepVerdict({ scene, graded }: Outcome): void {
  if (!graded) return
  scene.warnings.push(...graded.warnings.map((warning) => `verdict: ${warning}`))
  const text = JSON.stringify({ schema: 1, ...graded.verdict, warnings: graded.warnings }, null, 2)
  writeAtomic(outputFile(scene.places, scene.tick, 'verdict.json'), `${text}\n`)
}
