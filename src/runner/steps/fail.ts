import { waitUntil } from '../../machine/due.ts'
import { failTick, haltLoop, waitTick } from '../../machine/loop.ts'
import type { Halt, LoopState } from '../../machine/state.ts'
import { commit } from '../../store/journal.ts'
import { isTamper, makeHalt } from '../halt.ts'
import type { TickReport } from '../report.ts'
import type { Scene, Work } from '../scene.ts'
import type { SessionFailed } from '../session-failed.ts'
import { announceHalt } from './settle.ts'

/**
 * Writes down a session that failed: it is paid for, and counts as an error, not as an iteration. Too many in a row
 * halt, and so does at once what only a person can put right. A limit whose end is known is no error: the loop waits.
 */
export async function sessionFailed(
  scene: Scene,
  state: LoopState,
  work: Work,
  error: SessionFailed,
): Promise<TickReport> {
  const until = error.halt ? null : limitEnd(scene, error)
  return until === null ? failed(scene, state, work, error) : waits({ scene, state, work, error, until })
}

async function failed(scene: Scene, state: LoopState, work: Work, error: SessionFailed): Promise<TickReport> {
  const { places, deps, run, tick, startedAt } = scene
  const at = deps.clock.iso()
  const spent = scene.ledger.spent()
  const next = failTick(state, { at, startedAt, ...spent })
  const halt = haltFor(scene, error, next.consecutive_errors)
  const data = { ...about(scene, work, error), spent, halt }
  const entry = { type: 'error', run, by: 'tick', at, data, mend: isTamper(halt) }
  commit(places, state, halt ? haltLoop(next, halt) : next, entry)
  if (halt) await announceHalt(scene, halt)
  return {
    ...base(scene),
    outcome: 'session_failed',
    tick,
    role: error.role,
    task: work.task,
    why: error.failure.why,
    fix: error.failure.fix,
    errorsInARow: next.consecutive_errors,
    halt,
    spent,
  }
}

function waits(o: {
  scene: Scene
  state: LoopState
  work: Work
  error: SessionFailed
  until: string
}): TickReport {
  const { scene, state, work, error, until } = o
  const { places, deps, run, tick, startedAt } = scene
  const at = deps.clock.iso()
  const spent = scene.ledger.spent()
  const next = waitTick(state, { at, startedAt, ...spent, notBefore: until })
  const data = { ...about(scene, work, error), until, spent }
  commit(places, state, next, { type: 'wait', run, by: 'tick', at, data })
  return {
    ...base(scene),
    outcome: 'rate_limited',
    tick,
    role: error.role,
    task: work.task,
    why: error.failure.why,
    until,
    spent,
  }
}

function limitEnd({ deps }: Scene, { failure }: SessionFailed): string | null {
  const isLimit = failure.kind === 'rate_limit' || failure.kind === 'overloaded'
  return isLimit ? waitUntil(failure.retryAt, deps.clock.now()) : null
}

function haltFor({ config, deps }: Scene, error: SessionFailed, errorsInARow: number): Halt | null {
  const at = deps.clock.iso()
  const { kind } = error.failure
  if (error.halt) return error.halt
  // Trying again would fail again, each time for the price of the sessions before it.
  if (kind === 'credit' || kind === 'login') return makeHalt('human_intervention', kind, at)
  return errorsInARow >= config.brakes.max_consecutive_errors
    ? makeHalt('human_intervention', 'harness_error', at)
    : null
}

function about({ tick }: Scene, { task, phase }: Work, { role, failure }: SessionFailed) {
  return { tick, task, phase, role, why: failure.why }
}

function base({ places, warnings }: Scene) {
  return { loop: places.name, recovered: null, warnings }
}
