import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type AutomatonError, errors } from '../errors.ts'
import type { GitPlace } from './git.ts'
import { isPipe, pipesIn, pipesInStore, pipesInTree } from './pipe-walk.ts'
import { quoteArgument, type Repository } from './repository.ts'

/**
 * Throws `repository_broken`, naming it, when git would wait for a pipe or a device in a repository. For after a session,
 * which could have put it there.
 */
export function requireNoPipes({ gitDir, commonDir }: Pick<Repository, 'gitDir' | 'commonDir'>): void {
  const [pipe] = [...new Set([gitDir, commonDir])].flatMap((dir) => pipesIn(dir, { quick: true }))
  if (pipe) throw held(pipe.path)
}

/**
 * The same in a moment, for each git call: the names that git opens whatever it is asked. What else is in the way, such
 * as a ref, shows when a call takes too long.
 */
export function refusePipes(where: GitPlace): void {
  const { gitDirs, stores } = openedBy(where)
  const named = gitDirs.flatMap((dir) => openedFirst.map((name) => join(dir, name)))
  const pipe = [...named, ...stores.map((store) => join(store, 'info', 'alternates'))].find(isPipe)
  if (pipe !== undefined) throw held(pipe)
}

/** What a git call that does not end is waiting for, as the error to throw; null when that is not to be seen. */
export function waitsFor(where: GitPlace): AutomatonError | null {
  const { gitDirs, stores } = openedBy(where)
  const found = [
    ...gitDirs.flatMap((dir) => pipesIn(dir)),
    ...stores.flatMap(pipesInStore),
    ...(where.workTree === undefined ? [] : pipesInTree(where.workTree)),
  ]
  return found[0] ? held(found[0].path) : null
}

const openedFirst = [
  ...['HEAD', 'commondir', 'config', 'config.worktree', 'gitdir', 'index', 'packed-refs', 'shallow'],
  ...['info/attributes', 'info/exclude', 'info/grafts', 'info/sparse-checkout'],
]

function openedBy({ gitDir, commonDir = gitDir, objects, alternates = [] }: GitPlace) {
  return {
    gitDirs: [...new Set([gitDir, commonDir])],
    stores: [objects ?? join(commonDir, 'objects'), ...alternates],
  }
}

function held(path: string): AutomatonError {
  const what = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? 'leads to' : 'is'
  const why = `it ${what} a pipe or a device, which git would wait for without end`
  return errors.repositoryBroken(path, why, `rm ${quoteArgument(path)}`)
}
