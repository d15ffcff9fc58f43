import { git } from './git.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'

/** Questions about who made which commits, asked without the repository's configuration. */
export interface SessionCommits extends AsyncDisposable {
  /** Whether a commit has another one in its history. What cannot be read has not. */
  descends(tip: string, ancestor: string): Promise<boolean>
  /** Whether a ref that went from one commit to another has taken up a commit of the session. */
  took(is: string, was: string | undefined): Promise<boolean>
}

/**
 * Finds the commits that a session made: the worktree's own line (first parents, so that what it merged from others is
 * not taken for its own) above the last verified commit, and what its log names.
 */
export async function sessionCommits(options: {
  repo: Repository
  heads: string[]
  verified: string | null
  log: string[]
}): Promise<SessionCommits> {
  const own = privateGit({ repo: options.repo, persist: false })
  const { place } = own
  const list = async (args: string[]) => {
    const result = await git(place, ['rev-list', ...args])
    return result.code === 0 ? result.stdout.toString('latin1').split('\n').filter(Boolean) : null
  }
  const { heads, verified, log } = options
  const not = verified ? [`^${verified}`] : []
  const line = heads.length > 0 && verified ? await list(['--first-parent', ...heads, ...not]) : []
  const made = new Set([...(line ?? []), ...log])
  return {
    async descends(tip, ancestor) {
      return (await git(place, ['merge-base', '--is-ancestor', ancestor, tip])).code === 0
    },
    async took(is, was) {
      if (made.size === 0) return false
      const gained = await list([is, ...(was ? [`^${was}`] : []), ...not])
      // A ref that cannot be followed was not moved there by anybody's commit.
      return gained === null || gained.some((commit) => made.has(commit))
    },
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  }
}
