import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { resolveCommit } from '../system/git.ts'
import type { Repository } from '../system/repository.ts'
import { requireReadable } from '../system/restore.ts'
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

/** What {@link park} kept. */
export interface Parked {
  /** Null when there was nothing to keep. */
  ref: string | null
  /** The folder with the repositories that lay in the worktree, which no ref can hold; null when there were none. */
  folder: string | null
}

/**
 * Puts a worktree back to a commit; what was there, committed or not, is kept under a ref first, and other repositories
 * in it are moved to `kept/` beside the worktree, in a folder of the ref's last name. Run again after it was killed in the middle, it adds to what it kept and takes nothing away.
 */
export async function park(parking: Parking): Promise<Parked> {
  const ref = await keepWork(parking)
  return { ref, folder: await putAway(parking) }
}

/** The first half of {@link park}: keeps what is there, and changes nothing. Returns the ref, or null for nothing to keep. */
export async function keepWork({ repo, worktree, back, ref, at, why }: Parking): Promise<string | null> {
  if (!existsSync(worktree)) return null
  await using now = await snapshot({ repo, worktree, persist: true })
  requireReadable(now, worktree)
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
  return isNews || kept !== null ? ref : null
}

/** The second half: puts the worktree back. Returns the folder with the repositories that lay in it, or null. */
export async function putAway({ repo, worktree, back, ref }: Parking): Promise<string | null> {
  if (!existsSync(worktree)) return null
  const aside = join(dirname(worktree), 'kept', basename(ref))
  await restoreWorktree({ repo, worktree, commit: back, aside })
  return existsSync(aside) ? aside : null
}
