import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { realPath } from './real-path.ts'
import { readGitFile } from './repository.ts'
import { readSmall } from './small-file.ts'

/** Something in a git folder that git would open, and then wait for without end. */
export interface Pipe {
  path: string
  /** What in the folder that was looked at leads there, when it lies elsewhere: a link, or a file that names it. */
  via: string | null
}

/**
 * Pipes and devices in a git folder, and in what its links and files lead to. Looked at are the names that git opens by
 * itself; sockets are none of it, as they cannot be opened. Objects are listed and not read, a million names at most.
 * `quick`: the folders of single objects are left out, which are many and hold what git opens only when it is asked for it.
 */
export function pipesIn(gitDir: string, { quick = false } = {}): Pipe[] {
  const walk: Walk = { found: [], seen: new Set(), left: mostNames, quick }
  lookInto(walk, gitDir, null)
  return walk.found
}

/** The same for an object store. */
export function pipesInStore(store: string): Pipe[] {
  const walk: Walk = { found: [], seen: new Set(), left: mostNames, quick: false }
  lookIntoStore(walk, store, null)
  return walk.found
}

/**
 * The same for a working tree: files that git opens by name while it looks at one, and what it opens of the repositories
 * in it. Takes a second in a large tree.
 */
export function pipesInTree(workTree: string): Pipe[] {
  const walk: Walk = { found: [], seen: new Set(), left: mostNames, quick: false }
  lookIntoTree(walk, workTree)
  return walk.found
}

/** Whether a name is a pipe or a device, or a link to one. */
export function isPipe(path: string): boolean {
  return isWaiting(statOf(path))
}

/** The names in a folder; none where it cannot be listed. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

const mostNames = 1_000_000

/** Folders of a git folder that git opens by itself; `modules`, `lfs` and the like it does not. */
const folders = new Set(['info', 'logs', 'objects', 'refs', 'reftable', 'worktrees'])

interface Walk {
  found: Pipe[]
  /** Folders and files that were looked at, by their real path. */
  seen: Set<string>
  /** How many more names are looked at. */
  left: number
  quick: boolean
}

function lookInto(walk: Walk, gitDir: string, via: string | null): void {
  lookBelow({ walk, folder: gitDir, via, only: folders })
  follow(walk, join(gitDir, 'commondir'), via, (text, file) =>
    lookInto(walk, resolve(gitDir, text.trim()), via ?? file),
  )
  for (const name of ['config', 'config.worktree']) followIncludes(walk, join(gitDir, name), via)
  followAlternates(walk, join(gitDir, 'objects'), via)
}

function lookIntoStore(walk: Walk, store: string, via: string | null): void {
  lookBelow({ walk, folder: store, via })
  followAlternates(walk, store, via)
}

function lookIntoTree(walk: Walk, workTree: string): void {
  const open = [workTree]
  for (let folder = open.pop(); folder !== undefined && walk.left > 0; folder = open.pop()) {
    for (const entry of entriesOf(folder)) {
      walk.left--
      const path = join(folder, entry.name)
      if (entry.name === '.git' && folder !== workTree) {
        const target = gitDirAt(path, entry)
        if (target !== null) lookInto(walk, target, path)
      } else if (entry.isDirectory() && entry.name !== '.git') open.push(path)
      else if (openedByName.has(entry.name) && isWaiting(entry)) walk.found.push({ path, via: null })
    }
  }
}

const openedByName = new Set(['.gitignore', '.gitattributes', '.gitmodules'])

/** The git folder that a `.git` is or leads to. */
function gitDirAt(path: string, entry: Dirent): string | null {
  if (entry.isDirectory()) return path
  const stat = statOf(path)
  return stat?.isDirectory() ? path : stat?.isFile() ? readGitFile(realOf(path)) : null
}

function followAlternates(walk: Walk, store: string, via: string | null): void {
  follow(walk, join(store, 'info', 'alternates'), via, (text, file) => {
    for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
      lookIntoStore(walk, resolve(store, line.replaceAll(/^"|"$/g, '')), via ?? file)
    }
  })
}

function followIncludes(walk: Walk, config: string, via: string | null): void {
  follow(walk, config, via, (text, file) => {
    const whole = text.replaceAll(/\\\r?\n/g, '')
    for (const [, value = ''] of whole.matchAll(/(?:^|\])[ \t]*path[ \t]*=[ \t]*"?([^"#;\r\n]+)/gim)) {
      const included = resolve(dirname(config), value.trim())
      const stat = statOf(included)
      if (isWaiting(stat)) walk.found.push({ path: included, via: via ?? file })
      else if (stat?.isFile()) followIncludes(walk, included, via ?? file)
    }
  })
}

/** Hands over what a file says, once for each file. */
function follow(
  walk: Walk,
  file: string,
  via: string | null,
  then: (text: string, file: string) => void,
): void {
  const key = `${realOf(file)}\n${via ?? ''}`
  if (walk.seen.has(key) || walk.seen.size > mostFollowed) return
  const text = readSmall(file)
  if (text === null) return
  walk.seen.add(key)
  then(text, file)
}

const mostFollowed = 10_000
const singleObjects = /[\\/]objects[\\/][0-9a-f]{2}$/

function lookBelow(o: { walk: Walk; folder: string; via: string | null; only?: ReadonlySet<string> }): void {
  const { walk } = o
  const open = [{ folder: o.folder, via: o.via, only: o.only }]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (walk.quick && singleObjects.test(at.folder)) continue
    const key = realOf(at.folder)
    if (walk.seen.has(key) || walk.left <= 0) continue
    walk.seen.add(key)
    for (const entry of entriesOf(at.folder)) {
      walk.left--
      if (entry.isFile()) continue
      const path = join(at.folder, entry.name)
      const isLink = entry.isSymbolicLink()
      const via = isLink ? (at.via ?? path) : at.via
      const stat = entry.isDirectory() ? entry : statOf(path)
      if (stat?.isDirectory()) {
        if (!at.only || at.only.has(entry.name)) open.push({ folder: path, via, only: undefined })
      } else if (isWaiting(stat) || isWaiting(entry)) walk.found.push({ path, via })
    }
  }
}

function isWaiting(entry: Stats | Dirent | undefined): boolean {
  return entry !== undefined && (entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice())
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function realOf(path: string): string {
  try {
    return realPath(path)
  } catch {
    return path
  }
}
