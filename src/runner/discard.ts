import type { Halt, LoopState } from '../machine/state.ts'
import type { LoopPlaces } from '../store/layout.ts'
import type { Repository } from '../system/repository.ts'
import { type Parked, park } from './park.ts'

/**
 * Puts a loop's worktree back to its last verified commit; returns where what was there is kept. The ref has the name of
 * the halt's time, so that whoever approves again after a crash goes on with the same one.
 */
export async function discard(o: {
  places: LoopPlaces
  repo: Repository
  state: LoopState
  halt: Halt
  at: string
}): Promise<Parked> {
  const { places, repo, state, halt, at } = o
  const back = state.verified_sha ?? state.base_sha
  if (!back) return { ref: null, folder: null }
  const ref = `refs/automaton/kept/${places.name}/${stamp(halt.at)}`
  const why = `automaton(${places.name}): discarded by a person\n`
  return park({ repo, worktree: places.worktree, back, ref, at, why })
}

/** An ISO time as a part of a ref name. */
export function stamp(at: string): string {
  return at.replaceAll(/[-:.]/g, '')
}
