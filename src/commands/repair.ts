import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import { newHaltId } from '../runner/halt.ts'
import { peek } from '../store/journal.ts'
import { acquire } from '../store/lock.ts'
import { rebuild } from '../store/repair.ts'
import { existingLoop, lockWaitMs } from './held.ts'

/** What `repair` found and did. */
export interface RepairReport {
  loop: string
  /** False when state and log agreed already; then nothing was touched. */
  repaired: boolean
  /** What was wrong. */
  problem: string | null
  status: LoopState['status'] | null
  /** What an approval has to name now. */
  halt: string | null
}

/** Rebuilds a loop's state from its log, as halted. Throws `busy` and `state_too_new`. */
export async function repair(app: App, { loop }: { loop: string }): Promise<RepairReport> {
  const places = existingLoop(app.project(), loop)
  const lock = await acquire(places.lock, { waitMs: lockWaitMs })
  if (lock.busy) throw errors.busy(loop, lock.holder)
  await using _held = lock
  const { state, problem } = peek(places)
  if (!problem && state) {
    return { loop, repaired: false, problem: null, status: state.status, halt: state.halt?.id ?? null }
  }
  const next = rebuild(places, { at: app.clock.iso(), by: 'human', haltId: newHaltId() })
  const what = problem?.message ?? 'the loop had no state'
  return { loop, repaired: true, problem: what, status: next.status, halt: next.halt?.id ?? null }
}
