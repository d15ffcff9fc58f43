import type { LoopPlaces } from '../store/layout.ts'
import type { Repository } from '../system/repository.ts'
import { findStrayed, type Strayed } from '../system/strayed.ts'

/** A loop whose project is a copy of another one, and what a person does about it. */
export interface Copied {
  why: string
  /** The command that gives this copy a worktree of its own. */
  fix: string
}

/** Whether a project is a copy whose loop's worktree is still the other one's; null when it is not. Writes nothing. */
export function copiedFrom(o: { places: LoopPlaces; repo: Repository; branch: string }): Copied | null {
  const { places, repo, branch } = o
  return asCopied(places.name, findStrayed({ repo, path: places.worktree, branch }))
}

/** The same of what was found already. */
export function asCopied(loop: string, found: Strayed | null): Copied | null {
  if (found?.kind !== 'copied') return null
  const why = `this project is a copy, and git has the worktree at ${found.was}`
  return { why, fix: `automaton repair ${loop}` }
}
