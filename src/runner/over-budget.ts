import { budget } from '../machine/brakes.ts'
import { chargeTick } from '../machine/loop.ts'
import type { Halt } from '../machine/state.ts'
import { makeHalt } from './halt.ts'
import type { Search } from './scene.ts'

/** A cap was reached in the middle of a tick, so that its next session was not started. */
export class OverBudget extends Error {
  override readonly name = 'OverBudget'
  constructor(readonly halt: Halt) {
    super(halt.detail)
  }
}

/**
 * What the tick has spent so far, against the caps; throws {@link OverBudget} before a session that would start over
 * one. The first session is the gate's matter, which has just looked; and a cost that nobody reported is looked at when
 * the tick ends (contract, section 5).
 */
export function requireBudget({ opening, ledger, config, deps }: Search): void {
  if (ledger.sessions === 0) return
  const trip = budget(chargeTick(opening, ledger.spent()), { ...config.brakes, unknown_cost: 'ignore' })
  if (trip) throw new OverBudget(makeHalt(trip.reason, trip.detail, deps.clock.iso()))
}

/** What `run` answers, or the cap that stopped it. */
export async function withinBudget<T>(run: () => Promise<T>): Promise<T | OverBudget> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof OverBudget) return error
    throw error
  }
}
