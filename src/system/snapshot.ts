import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isProtected } from '../machine/scope.ts'
import { checkoutDir, type Head, headOf } from './checkout.ts'
import { copyIndex } from './checkout-index.ts'
import { parseRaw, rawDiff } from './diff.ts'
import { failure, type GitPlace, git, gitBytes, gitText, together } from './git.ts'
import { joinNames, pathBytes, showName, splitNames } from './names.ts'
import { type Holes, openUp } from './open-up.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'
import { takeFiles } from './take-files.ts'

/** A working tree as it lies on the disk, as a git tree. */
export interface Snapshot extends AsyncDisposable {
  tree: string
  /** What the checkout was on. */
  head: Head
  /** Ignored files and folders at the root whose names are protected. */
  ignoredProtected: string[]
  /** What is there but out of git's sight: names that it refuses, such as `.GIT/config`, and what is closed. */
  tainted: string[]
  /** Those of them that cannot be read, so that nobody can say what they hold, or keep it. */
  closed: string[]
  /** Where the tree can be read and compared; until the snapshot is disposed of. */
  place: GitPlace & { index: string }
}

/** The folder in which sessions leave files for automaton; it is nobody's change. */
export const runFolder = '.automaton-run'

/**
 * Takes a picture of a working tree. Committed or not, staged, hidden by index flags or `info/exclude`: what is on the
 * disk counts, except files that a `.gitignore` names and that nobody tracks. No filter, hook or monitor runs.
 * In a loop's own worktree, closed folders are opened first. `persist` keeps the objects in the repository's store; otherwise they go when the snapshot is disposed of.
 */
export async function snapshot(options: {
  repo: Repository
  worktree: string
  persist: boolean
  /** What {@link headOf} has just said of the checkout, if the caller has asked. */
  head?: Head
}): Promise<Snapshot> {
  const { repo, worktree, persist } = options
  const head = options.head ?? headOf(repo, worktree)
  const checkout = checkoutDir(repo, worktree)
  const isPrimary = checkout === repo.gitDir
  const holes = checkout && !isPrimary ? openUp(worktree, ['.git', runFolder]) : null
  const ours = isPrimary ? [`${repo.prefix}.automaton/loops/`, `${repo.prefix}.automaton/cache/`] : []
  const exclude = [`/${runFolder}`, ...ours.map((folder) => `/${escapePattern(folder)}`)]
  const own = privateGit({ repo, workTree: worktree, persist, exclude })
  try {
    const { place } = own
    const empty = { ...place, index: join(own.dir, 'none') }
    const skip = new Set(holes?.closed)
    const filled = await fillIndex({ repo, worktree, place, empty, commit: head.commit, skip })
    const [refusedNames, hidden, ignored] = await together([
      refused({ place, ...filled }),
      holes ? outOfSight({ place, holes, nested: filled.nested }) : { names: [], closed: [] },
      // Only now, or a tracked file that a .gitignore happens to name would be in it.
      gitBytes(place, ['ls-files', '-o', '-i', '-z', '--directory', '--exclude-standard']),
      head.commit && undoConversions(place, head.commit),
    ])
    // What is refused one by one is not reported again as a folder.
    const news = hidden.names.filter(
      (name) => !refusedNames.some((known) => `${known}/`.startsWith(`${name}/`)),
    )
    return {
      tree: await gitText(place, ['write-tree']),
      head,
      ignoredProtected: protectedNames(ignored, repo.prefix).filter(
        (name) => !ours.some((folder) => `${name}/`.startsWith(folder)),
      ),
      tainted: [...refusedNames, ...news].sort(),
      closed: hidden.closed,
      place,
      [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
    }
  } catch (error) {
    await own[Symbol.asyncDispose]()
    throw error
  }
}

interface Filling {
  repo: Repository
  worktree: string
  place: GitPlace & { index: string }
  /** The same place with an index that does not exist, so that everything is untracked there. */
  empty: GitPlace
  /** Says which ignored files are tracked, and which folders are submodules that nobody filled. */
  commit: string | null
  /** Files that cannot be read: git would give up over one. */
  skip: ReadonlySet<string>
}

/** What an index was to hold, and what lies at a name on the disk. */
interface Filled {
  expected: string[]
  /** Other repositories inside this one. */
  nested: ReadonlySet<string>
  look: (name: string) => string | null
}

/** Makes the private index equal to the working tree, but for the names that git refuses. */
async function fillIndex({ repo, worktree, place, empty, commit, skip }: Filling): Promise<Filled> {
  const [untracked, staged, inCommit, isRead] = await together([
    gitBytes(empty, ['ls-files', '-o', '-z', '--exclude-standard']),
    stagedNames(repo, worktree, place),
    commit && gitBytes(place, ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', commit]),
    commit && readCommit(place, commit),
  ])
  const tracked = inCommit && isRead ? parseTree(inCommit) : new Map<string, string>()
  const listed = splitNames(untracked)
  const nested = new Set(listed.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1)))
  const files = new Set(listed.filter((name) => !name.endsWith('/')))
  const look = disk(worktree, nested)
  const gone: string[] = []
  for (const [name, mode] of tracked) {
    if (files.has(name)) continue
    const kind = look(name)
    const isThere = mode === '160000' ? kind === 'folder' : kind === 'file'
    if (name === runFolder || name.startsWith(`${runFolder}/`)) gone.push(name)
    else if (!isThere) gone.push(name)
    else if (mode !== '160000' || nested.has(name)) files.add(name)
  }
  for (const name of staged) if (look(name) === 'file') files.add(name)
  for (const name of skip) files.delete(name)
  const added = [...nested].filter((name) => tracked.get(name) !== '160000')
  await removeFromIndex(place, [...gone, ...added.filter((name) => tracked.has(name))])
  await takeFiles(place, files)
  for (const name of added) await addNested(place, name)
  return { expected: [...files, ...added], nested, look }
}

/** False: the commit has names that git refuses, such as `../x`, and says nothing of honest files. */
async function readCommit(place: GitPlace, commit: string): Promise<boolean> {
  const args = ['read-tree', '--end-of-options', commit]
  const result = await git(place, args)
  if (result.code !== 0 && !/invalid path/.test(result.stderr)) throw failure(args, result)
  return result.code === 0
}

/** What lies at a name, without following links: null also below a link, and inside another repository. */
function disk(worktree: string, nested: ReadonlySet<string>) {
  const folders = new Map<string, boolean>([['', true]])
  const kindOf = (name: string) => {
    try {
      return lstatSync(pathBytes(worktree, name), { throwIfNoEntry: false })
    } catch {
      // It lies in a closed folder, which is reported as such.
      return undefined
    }
  }
  const isFolder = (name: string): boolean => {
    const known = folders.get(name)
    if (known !== undefined) return known
    const real = !nested.has(name) && isFolder(parentOf(name)) && (kindOf(name)?.isDirectory() ?? false)
    folders.set(name, real)
    return real
  }
  return (name: string): 'file' | 'folder' | null => {
    if (!isFolder(parentOf(name))) return null
    const stat = kindOf(name)
    if (stat?.isDirectory()) return 'folder'
    return stat?.isFile() || stat?.isSymbolicLink() ? 'file' : null
  }
}

/** The names in the checkout's own index: a file that was added with force is ignored, but it is staged. */
async function stagedNames(repo: Repository, worktree: string, place: GitPlace): Promise<string[]> {
  const index = copyIndex({ repo, worktree, into: place.gitDir })
  if (!index) return []
  const result = await git({ ...place, index }, ['ls-files', '-z'])
  // An index that cannot be read hides nothing here: the files themselves are what counts.
  return result.code === 0
    ? splitNames(result.stdout).filter((name) => !name.startsWith(`${runFolder}/`))
    : []
}

async function removeFromIndex(place: GitPlace, names: string[]): Promise<void> {
  if (names.length === 0) return
  const id = await anyId(place)
  const lines = names.map((name) => `0 ${id}\t${name}`)
  await gitBytes(place, ['update-index', '-z', '--index-info'], { stdin: joinNames(lines) })
}

/**
 * Attributes such as `text` turn line ends on the way into git. A file that is byte for byte what the commit holds is
 * unchanged all the same, or a repository with such files would never be clean.
 */
async function undoConversions(place: GitPlace, commit: string): Promise<void> {
  const raw = ['diff-index', '--cached', ...rawDiff, '--diff-filter=M', '--end-of-options', commit]
  const isPlain = (mode: string) => mode.startsWith('100')
  const changes = parseRaw(await gitBytes(place, raw)).filter(
    (change) => isPlain(change.oldMode) && isPlain(change.newMode) && !change.name.includes('\n'),
  )
  if (changes.length === 0) return
  const stdin = Buffer.from(changes.map((change) => `${change.name}\n`).join(''), 'latin1')
  const ids = (await gitText(place, ['hash-object', '--no-filters', '--stdin-paths'], { stdin })).split('\n')
  const same = changes.filter((change, at) => ids[at] === change.oldId)
  const lines = same.map((change) => `${change.newMode} ${change.oldId}\t${change.name}`)
  if (same.length > 0)
    await gitBytes(place, ['update-index', '-z', '--index-info'], { stdin: joinNames(lines) })
}

/** Another repository inside this one becomes a link, as in a commit; one without a commit gets a made-up id. */
async function addNested(place: GitPlace, name: string): Promise<void> {
  const add = ['update-index', '--add', '--replace', '-z', '--stdin']
  if ((await git(place, add, { stdin: joinNames([name]) })).code === 0) return
  const line = `160000 ${await anyId(place)}\t${name}`
  await gitBytes(place, ['update-index', '--add', '--replace', '-z', '--index-info'], {
    stdin: joinNames([line]),
  })
}

/** A well-formed id in the repository's own hash. */
async function anyId(place: GitPlace): Promise<string> {
  return gitText(place, ['hash-object', '--stdin'], { stdin: '' })
}

/** Git passes over names like `.GIT/config` without an error, so what it took is counted. */
async function refused(o: Filled & { place: GitPlace }): Promise<string[]> {
  const taken = new Set(splitNames(await gitBytes(o.place, ['ls-files', '-z'])))
  return o.expected
    .filter((name) => !taken.has(name) && o.look(name) !== null)
    .map(showName)
    .sort()
}

/** What git passes over in silence, but for what lies in ignored folders or in another repository, which is reported. */
async function outOfSight(o: {
  place: GitPlace
  holes: Holes
  nested: ReadonlySet<string>
}): Promise<{ names: string[]; closed: string[] }> {
  const { closed, removed, gits } = o.holes
  const isNested = (name: string): boolean => name !== '' && (o.nested.has(name) || isNested(parentOf(name)))
  // A pattern for `.git` itself must not hide it; only the folder around it can be ignored.
  const asked = [
    ...gits.map((name) => [name, parentOf(name)]),
    ...closed.map((name) => [name, name]),
  ] as const
  const open = asked.filter(([name = '']) => !isNested(name))
  const ignored = await ignoredAmong(
    o.place,
    open.map(([, about = '']) => about).filter((name) => name !== ''),
  )
  const left = open.filter(([, about = '']) => !ignored.has(about)).map(([name = '']) => name || '.')
  const shut = left.filter((name) => closed.includes(name === '.' ? '' : name))
  return { names: [...new Set([...removed, ...left].map(showName))], closed: shut.map(showName) }
}

async function ignoredAmong(place: GitPlace, names: string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  // This command takes no literal names, but `./` keeps it from seeing more than a name, and it has no wildcards.
  const args = ['--no-literal-pathspecs', 'check-ignore', '--no-index', '-z', '--stdin']
  const result = await git(place, args, { stdin: joinNames(names.map((name) => `./${name}`)) })
  if (result.code > 1) throw failure(args, result)
  return new Set(splitNames(result.stdout).map((name) => name.slice(2)))
}

/** Name and mode of every entry of a tree. */
function parseTree(list: Buffer): Map<string, string> {
  const entries = new Map<string, string>()
  for (const line of splitNames(list)) entries.set(line.slice(line.indexOf('\t') + 1), line.slice(0, 6))
  return entries
}

function protectedNames(list: Buffer, prefix: string): string[] {
  const names = splitNames(list).map((name) => showName(name.replace(/\/$/, '')))
  return names.filter((name) => isAtRoot(name, '') || (prefix !== '' && isAtRoot(name, prefix))).sort()
}

function isAtRoot(name: string, prefix: string): boolean {
  if (!name.startsWith(prefix) || name === runFolder) return false
  const first = name.slice(prefix.length).split('/', 1)[0] ?? ''
  return isProtected(first) || isProtected(`${first}/x`)
}

function parentOf(name: string): string {
  return name.slice(0, Math.max(name.lastIndexOf('/'), 0))
}

function escapePattern(path: string): string {
  return path.replaceAll(/[\\*?[\]]/g, '\\$&')
}
