import { existsSync } from 'node:fs'
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

/** Puts a worktree back to a commit; what was there, committed or not, is kept under a ref first. Returns whether there was anything to keep. */
export async function park({ repo, worktree, back, ref, at, why }: Parking): Promise<boolean> {
  if (!existsSync(worktree)) return false
  await using now = await snapshot({ repo, worktree, persist: true })
  const head = now.head.commit
  const dirty = now.tree !== now.head.tree
  if (!dirty && head === back) {
    await restoreWorktree({ repo, worktree, commit: back })
    return false
  }
  const tip = dirty
    ? await commitWorktree({
        repo,
        worktree,
        tree: now.tree,
        branch: null,
        parent: head ?? back,
        message: why,
        at,
      })
    : head
  if (tip) await keep({ repo, ref, commit: tip })
  await restoreWorktree({ repo, worktree, commit: back })
  return true
}
