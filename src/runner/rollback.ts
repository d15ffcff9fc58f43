import type { LoopState } from '../machine/state.ts'
import { readLog } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { ownCommits } from '../system/own-commits.ts'
import type { Repository } from '../system/repository.ts'

/**
 * Whether the loop's branch has a commit of a tick that its log has never heard of. Then an older state and an older log,
 * each whole and agreeing with the other, were put back. What a person looked at and approved counts as known, and so does
 * what an earlier loop of this name left.
 */
export async function isRolledBack(o: {
  places: LoopPlaces
  repo: Repository
  state: LoopState
  /** The commit that the loop's branch is at. */
  tip: string
}): Promise<boolean> {
  const { places, repo, state, tip } = o
  if (tip === state.verified_sha) return false
  const records = readLog(places)
  const approved = records.flatMap(({ data }) => (typeof data.tip === 'string' ? [data.tip] : []))
  const known = [state.verified_sha, state.base_sha, ...approved].filter((id) => id !== null)
  const commits = await ownCommits({ repo, loop: places.name, tip, known })
  const runs = new Set(records.map(({ run }) => run))
  const created = Date.parse(state.created_at)
  return commits.some(({ run, at }) => !runs.has(run) && at * 1000 > created)
}
