import { accessSync, constants, lstatSync, mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errors } from '../errors.ts'
import { installIndex } from './checkout-index.ts'
import { closedError } from './closed.ts'
import { diffTrees, type RawChange } from './diff.ts'
import { failure, type GitPlace, git } from './git.ts'
import { nameBytes, pathBytes, showName } from './names.ts'
import { dirtySubmodules, gitlink, moveAside } from './nested.ts'
import { openUp } from './open-up.ts'
import { patiently } from './patience.ts'
import { removeTree } from './remove.ts'
import { quoteArgument, type Repository } from './repository.ts'
import { isRealFolder, readLine, readSmall } from './small-file.ts'
import { runFolder, type Snapshot, snapshot } from './snapshot.ts'

/** Traces of an operation that stopped half-way; a worktree that starts again has none. */
const halfDone = [
  'MERGE_HEAD',
  'MERGE_MODE',
  'MERGE_MSG',
  'MERGE_AUTOSTASH',
  'AUTO_MERGE',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'SQUASH_MSG',
  'BISECT_LOG',
  'BISECT_START',
  'sequencer',
  'rebase-merge',
  'rebase-apply',
  'index.lock',
]

/** Makes the files and the index of a worktree those of a commit; see `restoreWorktree`. */
export async function putBack(options: {
  repo: Repository
  worktree: string
  /** The worktree's own git folder. */
  gitDir: string
  commit: string
  /** Where other repositories go; default `kept/put-back` beside the worktree. */
  aside?: string
}): Promise<void> {
  const { repo, worktree, gitDir, commit } = options
  const { aside = join(dirname(worktree), 'kept', 'put-back') } = options
  // Without it a read-only folder would keep its files.
  const { gits } = openUp(worktree, ['.git', runFolder])
  repairGitFile(worktree, gitDir)
  repairAdmin(repo, gitDir)
  for (const name of halfDone) removeTree(join(gitDir, name))
  await using now = await snapshot({ repo, worktree, persist: false })
  const { place, tree } = now
  requireReadable(now, worktree)
  const changes = await diffTrees(place, tree, commit)
  const nested = changes.filter((change) => change.oldMode === gitlink)
  const dirty = await dirtySubmodules({ place, tree, worktree })
  // A commit can only name another repository, so its files are never deleted.
  const names = [...nested.map(({ name }) => name), ...dirty, ...inTheWay(changes, gits)]
  moveAside({ worktree, names: [...new Set(names)], into: aside })
  const moved = new Set(nested.map(({ name }) => name))
  for (const name of dirty) if (!moved.has(name)) mkdirSync(pathBytes(worktree, name), { recursive: true })
  // `.GIT` and its like: git does not take them, so it does not take them away either.
  // The worktree itself, where it cannot be listed, has no name.
  for (const name of [...now.ignoredProtected, ...now.tainted]) if (name) removeWithFolders(worktree, name)
  // The index is the working tree's, so only what differs is written.
  await writeFiles({ place, worktree, commit, changes })
  installIndex({ gitDir, index: place.index })
}

/** Ignored folders stay where they are; but where the commit has a file, one would go with the repositories in it. */
function inTheWay(changes: readonly RawChange[], gits: readonly string[]): string[] {
  const files = changes.filter(({ newMode }) => newMode.startsWith('10') || newMode === '120000')
  return files.map(({ name }) => name).filter((name) => gits.some((git) => git.startsWith(`${name}/`)))
}

/** Throws, naming it, when something in a worktree cannot be read: what nobody can keep is not thrown away either. */
export function requireReadable({ closed }: Pick<Snapshot, 'closed'>, worktree: string): void {
  const [name] = closed
  if (name !== undefined) throw closedError({ worktree, name, cannot: 'read' })
}

/** Makes the files those of the commit. What may not be changed is looked for first, so that nothing is half put back. */
async function writeFiles(o: {
  place: GitPlace
  worktree: string
  commit: string
  changes: readonly RawChange[]
}): Promise<void> {
  const fixed = o.changes.find(({ name }) => isThere(o.worktree, name) && !isOpen(o.worktree, name))
  if (fixed) throw closedError({ worktree: o.worktree, name: showName(fixed.name), cannot: 'removed' })
  const args = ['read-tree', '--reset', '-u', '--end-of-options', o.commit]
  const result = await git(o.place, args)
  // Git only warns about a file that it may not remove, and goes on as if it were gone.
  const gone = o.changes.filter(({ newMode, oldMode }) => newMode === '000000' && oldMode !== gitlink)
  const stays = gone.find(({ name }) => isThere(o.worktree, name))
  const named = /(?:'([^'\n]+)'|"([^"\n]+)")\)?: (?:Permission denied|Operation not permitted)/.exec(
    result.stderr,
  )
  const name = stays ? showName(stays.name) : result.code === 0 ? undefined : (named?.[1] ?? named?.[2])
  if (name !== undefined) throw closedError({ worktree: o.worktree, name, cannot: 'removed' })
  if (result.code !== 0) throw failure(args, result)
}

/** Whether the folder around a name lets go of it. */
function isOpen(worktree: string, name: string): boolean {
  try {
    accessSync(pathBytes(worktree, name.slice(0, Math.max(name.lastIndexOf('/'), 0))), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Whether a file lies at a name, not counting what a link on the way to it leads to. */
function isThere(worktree: string, name: string): boolean {
  for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
    const parent = lstatSync(pathBytes(worktree, name.slice(0, at)), { throwIfNoEntry: false })
    if (!parent?.isDirectory()) return false
  }
  const stat = lstatSync(pathBytes(worktree, name), { throwIfNoEntry: false })
  return stat !== undefined && !stat.isDirectory()
}

/** A session can rewrite the `.git` file; what it says is known. A right one is left alone, so that no crash can tear it. */
export function repairGitFile(worktree: string, gitDir: string): void {
  const file = join(worktree, '.git')
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat?.isFile() && readSmall(file) === `gitdir: ${gitDir}\n`) return
  if (stat?.isDirectory()) {
    const fix = `mv ${quoteArgument(file)} ${quoteArgument(`${worktree}.git-old`)}`
    throw errors.worktreeUnusable(worktree, 'its .git is a folder of its own', fix)
  }
  // A link is replaced, never written through.
  removeTree(file)
  writeFileSync(file, `gitdir: ${gitDir}\n`)
}

/**
 * Makes a worktree and its entry name each other again. The entry comes last: until then the worktree counts as strayed,
 * and this is done again.
 */
export function tieTogether({ path, admin }: { path: string; admin: string }): void {
  if (isRealFolder(path)) repairGitFile(path, admin)
  const draft = join(admin, 'gitdir.automaton')
  removeTree(draft)
  writeFileSync(draft, `${join(path, '.git')}\n`, { flag: 'wx' })
  patiently(() => renameSync(draft, join(admin, 'gitdir')))
}

/** The same for the files by which git recognises the worktree's own folder; without them every call would fail. */
function repairAdmin(repo: Repository, gitDir: string): void {
  const head = join(gitDir, 'HEAD')
  if (!/^(ref: refs\/|[0-9a-f]{40,64}$)/.test(readLine(head) ?? '')) rewrite(head, 'ref: refs/heads/none\n')
  const common = readLine(join(gitDir, 'commondir'))
  if (common === null || resolve(gitDir, common) !== repo.commonDir)
    rewrite(join(gitDir, 'commondir'), '../..\n')
}

/** What is no plain file is replaced: a link would be written through, a pipe waited for. */
function rewrite(file: string, text: string): void {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) removeTree(file)
  writeFileSync(file, text)
}

/** Removes something below a folder, and the folders above it that are empty then. */
function removeWithFolders(worktree: string, name: string): void {
  const pathOf = (shown: string) => Buffer.concat([Buffer.from(`${worktree}/`), nameBytes(shown)])
  removeTree(pathOf(name))
  for (let at = name.lastIndexOf('/'); at > 0; at = name.lastIndexOf('/', at - 1)) {
    try {
      rmdirSync(pathOf(name.slice(0, at)))
    } catch {
      // It holds something else.
      return
    }
  }
}
