import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { haltLoop } from '../machine/loop.ts'
import type { LoopState } from '../machine/state.ts'
import { makeHalt, newHaltId } from '../runner/halt.ts'
import { refreshRun } from '../runner/run-kept.ts'
import { strayedOf, takeWorktree } from '../runner/strayed.ts'
import { commit, peek } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { acquire } from '../store/lock.ts'
import { rebuild } from '../store/repair.ts'
import { clearRun } from '../store/run.ts'
import { existingLoop, followLoop, lockWaitMs, stateOrNull } from './held.ts'

/** What `repair` found and did. */
export interface RepairReport {
  loop: string
  /** False when state, log and worktree belonged together already; then nothing was touched. */
  repaired: boolean
  /** What was wrong. */
  problem: string | null
  status: LoopState['status'] | null
  /** What an approval has to name now. */
  halt: string | null
}

/**
 * Rebuilds a loop's state from its log, and gives the loop of a copied project its own worktree; as halted in either
 * case. Throws `busy` and `state_too_new`.
 */
export async function repair(app: App, { loop }: { loop: string }): Promise<RepairReport> {
  const project = app.project()
  const places = existingLoop(project, loop)
  const lock = await acquire(places.lock, { waitMs: lockWaitMs })
  if (lock.busy) throw errors.busy(loop, lock.holder)
  await using _held = lock
  await app.permit()
  const strayed = strayedOf(places, project)
  const isCopy = strayed?.kind === 'copied'
  // What a copied run.json names are the processes of the other loop's tick.
  if (isCopy) clearRun(places)
  const { state, problem } = peek(places)
  const isWhole = !problem && state !== null
  const at = app.clock.iso()
  const next = !isWhole
    ? rebuild(places, { at, by: 'human', haltId: newHaltId() })
    : isCopy
      ? haltCopy(app, places, at)
      : state
  // A person looks at it before anything goes on.
  if (!isWhole) refreshRun(places)
  if (next !== state) await followLoop(app, places)
  // Last, so that a repair which was cut short is asked for again.
  if (strayed) await takeWorktree(places, strayed)
  const where = strayed && `git has the worktree at ${strayed.was}`
  const what = isWhole ? where : (problem?.message ?? 'the loop had no state')
  return { loop, repaired: what !== null, problem: what, status: next.status, halt: next.halt?.id ?? null }
}

/** Its state is whole, but there are two loops of it now: a person says that this one may run as well. */
function haltCopy(app: App, places: LoopPlaces, at: string): LoopState {
  const state = stateOrNull(app.project(), places)
  if (!state) throw errors.stateDamaged(places.state, 'it has just been removed', places.name)
  if (state.status === 'halted' || state.status === 'complete') return state
  const data = { from: 'copy', problem: null }
  const next = haltLoop(state, makeHalt('human_intervention', 'copied', at))
  return commit(places, state, next, { type: 'repaired', run: null, by: 'human', at, data })
}
