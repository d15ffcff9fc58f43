import { git } from './git.ts'
import { type PrivateGit, privateGit } from './private.ts'
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
  // Most sessions commit nothing, and then nothing has to be asked.
  let own: PrivateGit | undefined
  const ask = async (args: string[]) => {
    own ??= privateGit({ repo: options.repo, persist: false })
    const result = await git(own.place, args)
    // Over 1 it is no answer; a fault that passes must not look like the session's doing.
    return result.code > 1 ? git(own.place, args) : result
  }
  const list = async (args: string[]) => {
    const result = await ask(['rev-list', ...args])
    return result.code === 0 ? result.stdout.toString('latin1').split('\n').filter(Boolean) : null
  }
  const { heads, verified, log } = options
  const not = verified ? [`^${verified}`] : []
  const above = verified ? heads.filter((head) => head !== verified) : []
  const line = above.length > 0 ? await list(['--first-parent', ...above, ...not]) : []
  const made = new Set([...(line ?? []), ...log])
  return {
    async descends(tip, ancestor) {
      return tip === ancestor || (await ask(['merge-base', '--is-ancestor', ancestor, tip])).code === 0
    },
    async took(is, was) {
      if (made.size === 0) return false
      const gained = await list([is, ...(was ? [`^${was}`] : []), ...not])
      // A ref that cannot be followed was not moved there by anybody's commit.
      return gained === null || gained.some((commit) => made.has(commit))
    },
    [Symbol.asyncDispose]: async () => own?.[Symbol.asyncDispose](),
  }
}
