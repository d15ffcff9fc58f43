import type { LoopState } from '../machine/state.ts'
import type { LoopPlaces } from '../store/layout.ts'
import type { Repository } from '../system/repository.ts'
import { park } from './park.ts'

/** Puts a loop's worktree back to its last verified commit; returns the ref that keeps what was there, or null. */
export async function discard(o: {
  places: LoopPlaces
  repo: Repository
  state: LoopState
  at: string
}): Promise<string | null> {
  const { places, repo, state, at } = o
  const back = state.verified_sha ?? state.base_sha
  if (!back) return null
  const ref = `refs/automaton/kept/${places.name}/${stamp(at)}`
  const why = `automaton(${places.name}): discarded by a person\n`
  return (await park({ repo, worktree: places.worktree, back, ref, at, why })) ? ref : null
}

/** An ISO time as a part of a ref name. */
export function stamp(at: string): string {
  return at.replaceAll(/[-:.]/g, '')
}
