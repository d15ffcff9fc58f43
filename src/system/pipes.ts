import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type AutomatonError, errors } from '../errors.ts'
import type { GitPlace } from './git.ts'
import { entriesOf, isPipe, pipesIn, pipesInStore, pipesInTree } from './pipe-walk.ts'
import { quoteArgument, type Repository } from './repository.ts'

/**
 * Throws `repository_broken`, naming it, when git would wait for a pipe or a device in a repository. For after a session,
 * which could have put it there.
 */
export function requireNoPipes({ gitDir, commonDir }: Pick<Repository, 'gitDir' | 'commonDir'>): void {
  const [pipe] = gitDir === commonDir ? pipesIn(gitDir) : [...pipesIn(gitDir), ...pipesIn(commonDir)]
  if (pipe) throw held(pipe.path)
}

/**
 * The same in a moment, for each git call: the names that git opens whatever it is asked. The first call in a repository
 * looks at all of it.
 */
export function refusePipes(where: GitPlace): void {
  const { gitDir, commonDir = gitDir, objects } = where
  const { gitDirs, stores } = openedBy(where)
  const named = gitDirs.flatMap((dir) => openedFirst.map((name) => join(dir, name)))
  const packs = stores.flatMap((store) => [
    join(store, 'info', 'alternates'),
    ...entriesOf(join(store, 'pack')).map((entry) => join(store, 'pack', entry.name)),
  ])
  const pipe = [...named, ...packs].find(isPipe)
  if (pipe !== undefined) throw held(pipe)
  const key = `${gitDir}\n${commonDir}`
  // A git folder of our own holds what we put there.
  if (objects !== undefined || looked.has(key)) return
  requireNoPipes({ gitDir, commonDir })
  looked.add(key)
}

/** Has the next call look at all of it again: a program has run meanwhile. */
export function lookAgain(): void {
  looked.clear()
}

/** What a git call that does not end is waiting for, as the error to throw; null when that is not to be seen. */
export function waitsFor(where: GitPlace): AutomatonError | null {
  const { gitDirs, stores } = openedBy(where)
  const found = [
    ...gitDirs.flatMap(pipesIn),
    ...stores.flatMap(pipesInStore),
    ...(where.workTree === undefined ? [] : pipesInTree(where.workTree)),
  ]
  return found[0] ? held(found[0].path) : null
}

const openedFirst = [
  ...['HEAD', 'commondir', 'config', 'config.worktree', 'gitdir', 'index', 'packed-refs', 'shallow'],
  ...['info/attributes', 'info/exclude', 'info/grafts', 'info/sparse-checkout'],
]

const looked = new Set<string>()

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
