import { existsSync } from 'node:fs'
import { resolveCommit } from '../system/git.ts'
import type { Repository } from '../system/repository.ts'
import { snapshot } from '../system/snapshot.ts'
import { commitWorktree, keep, restoreWorktree } from '../system/worktree.ts'

/** A worktree whose contents are to be put aside. */
export interface Parking {
  repo: Repository
  worktree: string
  /** The commit that the worktree goes back to. */
  back: string
  /** Where what was there is kept, below `refs/automaton/`. */
  ref: string
  /** ISO-8601, for the commit. */
  at: string
  why: string
}

/**
 * Puts a worktree back to a commit; what was there, committed or not, is kept under a ref first. Returns whether there
 * was anything to keep. Run again after it was killed in the middle, it adds to what it kept and takes nothing away.
 */
export async function park({ repo, worktree, back, ref, at, why }: Parking): Promise<boolean> {
  if (!existsSync(worktree)) return false
  await using now = await snapshot({ repo, worktree, persist: true })
  const kept = await resolveCommit(repo, ref)
  const known = [kept, kept && back]
  const trees = await Promise.all(known.map((id) => id && resolveCommit(repo, `${id}^{tree}`, 'tree')))
  const head = now.head.commit
  const dirty = now.tree !== now.head.tree
  // What an earlier try kept, or has put back already, is no news.
  const isNews = kept ? !trees.includes(now.tree) : dirty || head !== back
  if (isNews) {
    const commit = { repo, worktree, tree: now.tree, branch: null, message: why, at }
    const tip = kept || dirty ? await commitWorktree({ ...commit, parent: kept ?? head ?? back }) : head
    if (tip) await keep({ repo, ref, commit: tip })
  }
  await restoreWorktree({ repo, worktree, commit: back })
  return isNews || kept !== null
}
