import type { AutomatonError } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import type { Turn } from '../machine/turns.ts'
import { peek } from '../store/journal.ts'
import { loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import type { Deps } from './deps.ts'
import { readSetting } from './setting.ts'

/** A loop as the daemon sees it: what people configured, and what is true now. */
export interface Sight {
  loop: string
  /** null: there is no state that can be read. */
  state: LoopState | null
  /** Why its configuration cannot be used, or its state cannot be read. */
  problem: AutomatonError | null
  /** null: it is not ticked as things are. */
  turn: Turn | null
}

/** Reads configuration and state of the named loops, or of all that are not `manual`, so that an edit counts at once. */
export function lookAtLoops(o: {
  deps: Deps
  /** Empty: all. */
  named: readonly string[]
  /** Seconds since each loop's tick was last started. */
  sinceStart(loop: string): number
}): Sight[] {
  const { deps, named } = o
  return (named.length > 0 ? named : listLoops(deps.project)).flatMap((loop): Sight[] => {
    const places = loopPlaces(deps.project, loop)
    const { state, problem } = peek(places)
    const { config, problem: misconfigured } = readSetting(places, deps.project, deps.home)
    if (named.length === 0 && config?.schedule.kind === 'manual') return []
    if (state?.status !== 'running' || !config) {
      return [{ loop, state, problem: problem ?? misconfigured, turn: null }]
    }
    const turn: Turn = {
      loop,
      intervalSeconds: config.schedule.interval_seconds,
      lastTickAt: state.last_tick_at,
      notBefore: state.not_before,
      sinceStart: o.sinceStart(loop),
      inCheckout: !config.blast_radius.worktree,
    }
    return [{ loop, state, problem, turn }]
  })
}
