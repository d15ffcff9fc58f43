import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { errors } from '../errors.ts'
import { copyIndex, installIndex } from './checkout-index.ts'
import { diffTrees, parseRaw, type RawChange, rawDiff } from './diff.ts'
import { type GitPlace, git, gitBytes, gitText } from './git.ts'
import { joinNames, pathBytes, showName } from './names.ts'
import { quoteArgument, type Repository, repositoryPlace } from './repository.ts'
import { snapshot } from './snapshot.ts'

/** A branch that is checked out, and where it goes. */
export interface FastForwardOptions {
  repo: Repository
  /** Without `refs/heads/`. */
  branch: string
  from: string
  /** A descendant of `from`. */
  to: string
  /** The remote's branch, whose ref here moves too. */
  upstream: string
}

/**
 * Moves a checkout and its branch to a newer commit. What a person changed stays: where the new commit would overwrite it,
 * `home_changed` is thrown before anything is written. Files first, then the index, then the branch: cut short anywhere,
 * a second call ends it. No hook or filter of the repository runs.
 */
export async function fastForward(options: FastForwardOptions): Promise<void> {
  const { repo, branch, from, to, upstream } = options
  const lock = join(repo.gitDir, 'index.lock')
  if (existsSync(lock)) throw errors.gitLocked(lock, `rm ${quoteArgument(lock)}`)
  await using now = await snapshot({ repo, worktree: repo.toplevel, persist: false })
  const { place, tree } = now
  const incoming = await diffTrees(place, from, to)
  const index = copyIndex({ repo, worktree: repo.toplevel, into: place.gitDir })
  const staged = index === null ? [] : await stagedChanges({ ...place, index }, from)
  const mine = await diffTrees(place, from, tree)
  const inTheWay = conflicts({ incoming, changed: mine, folder: repo.toplevel })
  const alsoStaged = conflicts({ incoming, changed: staged, folder: null })
  const files = [...new Set([...inTheWay, ...alsoStaged])].sort()
  if (files.length > 0) throw errors.homeChanged(repo.toplevel, listed(files))

  await gitBytes(place, ['read-tree', '-m', '-u', tree, await merged(place, tree, incoming)])
  if (index !== null) {
    await apply({ ...place, index }, incoming)
    // Status 1 says that files differ from the index, which is the person's to do.
    await git({ ...place, index }, ['update-index', '-q', '--refresh'])
    installIndex({ gitDir: repo.gitDir, index })
  }
  const message = 'automaton install: fast-forward'
  const move = (ref: string, ...ids: string[]) =>
    gitBytes(repositoryPlace(repo), ['update-ref', '-m', message, '--end-of-options', ref, ...ids])
  await move(`refs/heads/${branch}`, to, from)
  await move(`refs/remotes/origin/${upstream}`, to)
}

/** What a person did to a file that comes in changed, unless it is the same change. */
function conflicts(o: { incoming: RawChange[]; changed: RawChange[]; folder: string | null }): string[] {
  const mine = new Map(o.changed.map((change) => [change.name, change]))
  const isThere = (name: string) => o.folder !== null && exists(pathBytes(o.folder, name))
  const isNew = ({ oldMode }: RawChange) => /^0+$/.test(oldMode)
  return o.incoming
    .filter((change) => {
      const { name, newId, newMode } = change
      const own = mine.get(name)
      if (own) return own.newId !== newId || own.newMode !== newMode
      if (parentsOf(name).some((parent) => mine.has(parent) && isThere(parent))) return true
      // An ignored file is in no tree, but it is there.
      return isNew(change) && isThere(name)
    })
    .map(({ name }) => showName(name))
}

async function stagedChanges(place: GitPlace, from: string): Promise<RawChange[]> {
  return parseRaw(await gitBytes(place, ['diff-index', '--cached', ...rawDiff, '--end-of-options', from]))
}

/** The tree of the files as they lie there, with what comes in. */
async function merged(place: GitPlace & { index: string }, tree: string, incoming: RawChange[]) {
  const scratch = { ...place, index: join(place.gitDir, 'merged-index') }
  await gitBytes(scratch, ['read-tree', '--end-of-options', tree])
  await apply(scratch, incoming)
  return gitText(scratch, ['write-tree'])
}

/** Removals come first, so that a folder can take the place of a file. */
async function apply(place: GitPlace, changes: RawChange[]): Promise<void> {
  const isGone = ({ newMode }: RawChange) => /^0+$/.test(newMode)
  const lines = [
    ...changes.filter(isGone).map(({ name, oldId }) => `0 ${oldId}\t${name}`),
    ...changes.filter((change) => !isGone(change)).map((c) => `${c.newMode} ${c.newId}\t${c.name}`),
  ]
  await gitBytes(place, ['update-index', '-z', '--index-info'], { stdin: joinNames(lines) })
}

/** A name below something that is no folder is not there. */
function exists(path: Buffer): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    throw error
  }
}

function parentsOf(name: string): string[] {
  return name.split('/').flatMap((_, at, parts) => (at === 0 ? [] : [parts.slice(0, at).join('/')]))
}

function listed(files: string[]): string {
  const shown = files.slice(0, 5).join(', ')
  return files.length > 5 ? `${shown} and ${files.length - 5} more` : shown
}
