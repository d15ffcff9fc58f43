import { basename, dirname } from 'node:path'
import { errors } from '../errors.ts'
import { type Change, outOfScope } from '../machine/scope.ts'
import { checkoutDir, type Head } from './checkout.ts'
import { copyIndex } from './checkout-index.ts'
import { diffTrees, parseRaw, type RawChange, rawDiff, readBlobs } from './diff.ts'
import { type GitPlace, gitBytes, together } from './git.ts'
import { showName } from './names.ts'
import { dirtySubmodules } from './nested.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'
import { runFolder, type Snapshot, snapshot } from './snapshot.ts'

/** Two commits or trees of a repository. */
export interface Between {
  repo: Repository
  from: string
  to: string
  /** Where the objects are, when they are not in the repository's store: {@link Snapshot.place}. */
  place?: GitPlace
}

/** What a working tree has that its base has not. */
export interface Drift extends AsyncDisposable {
  /** The working tree as a git tree. */
  tree: string
  /** What the checkout was on. */
  head: Head
  changes: Change[]
  /** Names outside the scope, sorted, for people. */
  outOfScope: string[]
  /** Those of them that cannot be read. */
  closed: string[]
  /** Where the tree and its index can be read until the drift is disposed of. */
  place: Snapshot['place']
}

/**
 * Compares a working tree with a base, by commit or tree id. Besides the files on the disk it looks at what the
 * worktree's HEAD and index hold, so that a change which was committed or staged and then taken back is seen as well.
 */
export async function driftOf(options: {
  repo: Repository
  worktree: string
  base: string
  fileScope: readonly string[]
  /** Keep the tree in the repository's store; default true. */
  persist?: boolean
  /** What `headOf` has just said of the checkout, if the caller has asked. */
  head?: Head
}): Promise<Drift> {
  const { repo, worktree, base, fileScope, persist = true, head } = options
  const now = await snapshot({ repo, worktree, persist, ...(head && { head }) })
  try {
    const { place, tree, tainted } = now
    const isPrimary = checkoutDir(repo, worktree) === repo.gitDir
    const [changes, hidden, dirty] = await together([
      changesBetween({ repo, from: base, to: tree, place }),
      hiddenChanges({ repo, worktree, base, place, commit: now.head.commit }),
      // A tree names a submodule's commit and says nothing of its files.
      isPrimary ? [] : dirtySubmodules({ place, tree, worktree }),
    ])
    const all = [...changes, ...hidden, ...now.ignoredProtected.map(added)]
    const out = outOfScope(all, { fileScope: [...fileScope], prefix: repo.prefix })
    return {
      tree,
      head: now.head,
      changes,
      outOfScope: [...new Set([...out, ...tainted, ...dirty.map(showName)])].sort(),
      closed: now.closed,
      place,
      [Symbol.asyncDispose]: () => now[Symbol.asyncDispose](),
    }
  } catch (error) {
    await now[Symbol.asyncDispose]()
    throw error
  }
}

/** What differs between two commits or trees, by file, with the targets of new symbolic links. */
export async function changesBetween(between: Between): Promise<Change[]> {
  await using own = between.place ? null : privateGit({ repo: between.repo, persist: false })
  const place = between.place ?? own?.place
  if (!place) throw new Error('no place to compare in')
  return describe(place, await diffTrees(place, between.from, between.to))
}

/** The same as a unified diff, with binary files named only. Longer than `maxBytes` it is cut, and says so. */
export async function diffText({
  repo,
  from,
  to,
  maxBytes,
  place,
}: Between & { maxBytes: number }): Promise<string> {
  await using own = place ? null : privateGit({ repo, persist: false })
  const where = place ?? own?.place
  if (!where) throw new Error('no place to compare in')
  const flags = ['-r', '-p', '--no-renames', '--no-color', '--no-ext-diff', '--no-textconv', '--no-relative']
  const args = ['diff-tree', ...flags, '--ignore-submodules=none', '--end-of-options', from, to]
  const output = await gitBytes(where, args, { maxBytes: maxBytes + 1, cut: true })
  if (output.length <= maxBytes) return output.toString('utf8')
  const lastLine = output.lastIndexOf(10, maxBytes - 1)
  const shown = output.subarray(0, lastLine + 1)
  return `${shown.toString('utf8')}[the diff is longer; cut here after ${shown.length} bytes]\n`
}

/** What HEAD and the index of a loop's worktree hold. A person's own checkout holds what that person likes. */
async function hiddenChanges(o: {
  repo: Repository
  worktree: string
  base: string
  place: GitPlace
  commit: string | null
}): Promise<Change[]> {
  const { repo, worktree, base, place, commit } = o
  if (checkoutDir(repo, worktree) === repo.gitDir) return []
  if (!commit) {
    const fix = `automaton sync ${basename(dirname(worktree))}`
    throw errors.worktreeUnusable(worktree, 'its HEAD has no commit', fix)
  }
  const index = copyIndex({ repo, worktree, into: place.gitDir })
  const args = ['diff-index', '--cached', ...rawDiff, '--end-of-options', base]
  const [committed, cached] = await together([
    commit === base ? [] : diffTrees(place, base, commit),
    index && gitBytes({ ...place, index }, args),
  ])
  const staged = cached ? parseRaw(cached) : []
  const outside = ({ name }: RawChange) => name !== runFolder && !name.startsWith(`${runFolder}/`)
  return describe(place, [...committed, ...staged].filter(outside))
}

async function describe(place: GitPlace, raw: RawChange[]): Promise<Change[]> {
  const links = raw.filter(isLink)
  const targets = await readBlobs(
    place,
    links.map((change) => change.newId),
  )
  const targetOf = new Map(
    links.map((change, at) => [change, showName((targets[at] ?? '').toString('latin1'))]),
  )
  return raw.map((change) => ({
    path: showName(change.name),
    oldMode: change.oldMode,
    newMode: change.newMode,
    linkTarget: targetOf.get(change) ?? null,
  }))
}

/** A staged link whose object was never written has no id; nobody can commit it. */
function isLink({ newMode, newId }: RawChange): boolean {
  return newMode === '120000' && !/^0+$/.test(newId)
}

function added(path: string): Change {
  return { path, oldMode: '000000', newMode: '100644', linkTarget: null }
}
