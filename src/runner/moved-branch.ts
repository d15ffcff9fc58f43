import { errors } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import type { GateFacts } from '../machine/gate.ts'
import type { LoopState } from '../machine/state.ts'
import { failure, git, resolveCommit } from '../system/git.ts'
import { type Repository, repositoryPlace } from '../system/repository.ts'
import { isMerged } from '../system/worktree.ts'

/** What the state says of the loop's branch. */
export type BranchShas = Pick<LoopState, 'base_sha' | 'verified_sha' | 'phase_sha'>

/** What is wrong with a branch whose tip is not the last verified commit: a refusal, a mark of tampering, or nothing. */
export async function movedBranch(o: {
  config: LoopConfig
  repo: Repository
  loop: string
  state: LoopState
  /** Null: the branch is gone. */
  tip: string | null
}): Promise<{ refusal: GateFacts['refusal']; tamper: 'tamper:branch' | null }> {
  const { config, repo, loop, state, tip } = o
  const { verified_sha: verified } = state
  if (verified === null || (tip !== null && (await descends(repo, verified, tip))))
    return { refusal: null, tamper: null }
  const refusal = await lostRefusal({ repo, loop, state })
  if (refusal || tip === null) return { refusal, tamper: null }
  const isOnBase = await standsOnBase({ config, repo, state, tip })
  return { refusal: null, tamper: isOnBase ? null : 'tamper:branch' }
}

/** A refusal when a commit that the state names is not in the repository any more; null when all are there. */
export async function lostRefusal(o: {
  repo: Repository
  loop: string
  state: LoopState
}): Promise<GateFacts['refusal']> {
  const { repo, loop, state } = o
  for (const id of [state.verified_sha, state.base_sha]) {
    if (id === null || (await resolveCommit(repo, id)) !== null) continue
    const { message, fix } = errors.commitLost(loop, id, repo.toplevel)
    return { kind: 'no_git', why: message, fix }
  }
  return null
}

/**
 * What a state says from now on, once a person has accepted a branch that does not descend from its last verified commit:
 * its tip counts as verified, and drift is measured from where it left the base branch. Null when nothing changes.
 */
export async function acceptedBranch(o: {
  config: LoopConfig
  repo: Repository
  state: LoopState
  tip: string
}): Promise<BranchShas | null> {
  const { config, repo, state, tip } = o
  const { base_sha: base, verified_sha: verified, phase_sha: phase } = state
  if (base === null || verified === null || (await descends(repo, verified, tip))) return null
  const start = await mergeBase(repo, tip, `refs/heads/${config.blast_radius.base_branch}`)
  return {
    base_sha: start ?? base,
    verified_sha: tip,
    phase_sha: phase === null || (await descends(repo, phase, tip)) ? phase : tip,
  }
}

/**
 * Whether the branch is at the base branch, which has all its verified work: a tick starts again from there, and was
 * perhaps killed right after it had moved the branch.
 */
async function standsOnBase(o: {
  config: LoopConfig
  repo: Repository
  state: LoopState
  tip: string
}): Promise<boolean> {
  const { config, repo, state, tip } = o
  const { base_sha: base, verified_sha: verified } = state
  if (base === null || verified === null || base === tip) return false
  if (tip !== (await resolveCommit(repo, `refs/heads/${config.blast_radius.base_branch}`))) return false
  return isMerged({ repo, base: tip, tip: verified, mergeBase: base })
}

/** Whether a commit has another one in its history. One that is lost is in nobody's. */
async function descends(repo: Repository, ancestor: string, tip: string): Promise<boolean> {
  if (ancestor === tip) return true
  const args = ['merge-base', '--is-ancestor', '--end-of-options', ancestor, tip]
  const result = await git(repositoryPlace(repo), args)
  if (result.code <= 1) return result.code === 0
  if ((await resolveCommit(repo, ancestor)) === null) return false
  throw failure(args, result)
}

async function mergeBase(repo: Repository, tip: string, base: string): Promise<string | null> {
  const result = await git(repositoryPlace(repo), ['merge-base', '--end-of-options', tip, base])
  const id = result.stdout.toString('latin1').trim()
  return result.code === 0 && /^[0-9a-f]{40,64}$/.test(id) ? id : null
}
