import { AutomatonError, errors } from '../errors.ts'
import type { LoopPlaces, Project } from '../store/layout.ts'
import { findRepository } from '../system/repository.ts'
import { findStrayed, type Strayed } from '../system/strayed.ts'
import { asCopied, type Copied } from './copied.ts'
import { branchOf } from './facts.ts'

/**
 * Ties a loop's worktree to its repository again after the project's folder was moved; of a copy it says so, since two
 * loops must not share a worktree. Null: nothing stands in the way. The caller holds the lock.
 */
export async function mendMoved(places: LoopPlaces, project: Project): Promise<Copied | null> {
  const found = strayedOf(places, project)
  if (found?.kind === 'moved') await takeWorktree(places, found)
  return asCopied(places.name, found)
}

/** The same for a command that cannot go on in a copy. Throws `worktree_unusable`. */
export async function requireOwnWorktree(places: LoopPlaces, project: Project): Promise<void> {
  const copied = await mendMoved(places, project)
  if (copied) throw errors.worktreeUnusable(places.worktree, copied.why, copied.fix)
}

/** Gives the loop its worktree also in a copy, which a person decides. The caller holds the lock. */
export async function takeWorktree(places: LoopPlaces, { admin }: Strayed): Promise<void> {
  // Rare, and the gate is asked often.
  const { tieTogether } = await import('../system/restore.ts')
  tieTogether({ path: places.worktree, admin })
}

/** How the project strayed, whatever loop.json says, which may be broken just now; null when it did not. */
export function strayedOf(places: LoopPlaces, project: Project): Strayed | null {
  try {
    const repo = findRepository(project.root)
    return repo && findStrayed({ repo, path: places.worktree, branch: branchOf(places.name) })
  } catch (error) {
    // A repository that cannot be used is the gate's own refusal.
    if (error instanceof AutomatonError) return null
    throw error
  }
}
