import type { LoopConfig } from '../machine/config.ts'
import type { LoopState } from '../machine/state.ts'
import { resolveCommit } from '../system/git.ts'
import type { Repository } from '../system/repository.ts'
import { isMerged } from '../system/worktree.ts'

/**
 * Whether a loop's branch has verified work that its base branch lacks. Null when that cannot be told: the base branch
 * is gone. Throws `git_failed`.
 */
export async function isUnmerged(o: {
  repo: Repository | null
  config: LoopConfig
  state: LoopState
}): Promise<boolean | null> {
  const { base_sha: base, verified_sha: verified } = o.state
  const { worktree, base_branch } = o.config.blast_radius
  if (!o.repo || !worktree || !base || !verified || base === verified) return false
  const tip = await resolveCommit(o.repo, `refs/heads/${base_branch}`)
  if (tip === null) return null
  return !(await isMerged({ repo: o.repo, base: tip, tip: verified, mergeBase: base }))
}
