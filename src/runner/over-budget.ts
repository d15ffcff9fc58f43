import { budget } from '../machine/brakes.ts'
import { chargeTick } from '../machine/loop.ts'
import { Halting, makeHalt } from './halt.ts'
import type { Search } from './scene.ts'

/**
 * What the tick has spent so far, against the caps; throws {@link Halting} before a session that would start over
 * one. The first session is the gate's matter, which has just looked; and a cost that nobody reported is looked at when
 * the tick ends (contract, section 5).
 */
export function requireBudget({ opening, ledger, config, deps }: Search): void {
  if (ledger.sessions === 0) return
  const trip = budget(chargeTick(opening, ledger.spent()), { ...config.brakes, unknown_cost: 'ignore' })
  if (trip) throw new Halting(makeHalt(trip.reason, trip.detail, deps.clock.iso()))
}
