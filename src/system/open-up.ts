import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { pathBytes } from './names.ts'
import { isPassing } from './passing.ts'
import { pipesIn } from './pipe-walk.ts'
import { realPath } from './real-path.ts'
import { readGitFile } from './repository.ts'

/** What git cannot see or must not touch; names from the worktree's root, one character a byte. */
export interface Holes {
  /** Folders and files that stay closed: nobody can say what they hold. */
  closed: string[]
  /** Pipes and the like that git would have waited for; they are gone now. */
  removed: string[]
  /** Everything below the root that is named `.git`, in any case; git does not look inside. */
  gits: string[]
}

/** Files that git opens by name while it lists a working tree, so that a pipe there would hold it up. */
const openedByName = new Set(['.gitignore', '.gitattributes', '.gitmodules', 'head', 'commondir'])

/**
 * Gives the owner of a loop's worktree the rights to read all of it and to remove all of it: git only warns about a
 * folder that it cannot open, and then shows none of its files. Links are not followed, and the x bit of files, which
 * git records, is left alone. `skip` names entries of the root that are left alone. Never for a person's own checkout.
 */
export function openUp(worktree: string, skip: readonly string[]): Holes {
  const holes: Holes = { closed: [], removed: [], gits: [] }
  const root = lstatSync(worktree)
  // What a link in its place leads to is not ours to open.
  if (!root.isDirectory()) return { ...holes, closed: [''] }
  grantFolder(Buffer.from(worktree), root)
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for (const entry of namesIn(pathBytes(worktree, folder))) {
        if (folder === '' && skip.includes(entry)) continue
        const name = folder === '' ? entry : `${folder}/${entry}`
        const lower = entry.toLowerCase()
        if (folder !== '' && lower === '.git') holes.gits.push(name)
        const path = pathBytes(worktree, name)
        const stat = lstatSync(path, { throwIfNoEntry: false })
        if (!stat) continue
        if (stat.isDirectory()) {
          grantFolder(path, stat)
          folders.push(name)
        } else if (stat.isFile()) {
          if (!canRead(path, stat)) holes.closed.push(name)
        } else if (
          !stat.isSymbolicLink() &&
          (openedByName.has(lower) || (isInGit(name) && !stat.isSocket()))
        ) {
          // It holds nothing, so nothing is lost.
          remove(worktree, name, holes)
        }
      }
    } catch (error) {
      // What somebody shut is a closed entry, the root ('') too; what the disk refuses says nothing.
      if (isPassing(error)) throw error
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') holes.closed.push(folder)
    }
  }
  for (const name of holes.gits) removeWaits(worktree, name, holes)
  return holes
}

/** What a repository in the worktree leads to can lie anywhere; then what leads there is removed. */
function removeWaits(worktree: string, name: string, holes: Holes): void {
  const path = pathBytes(worktree, name)
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return
  // A name that is no text cannot be a path here; git's own limit is what ends such a call.
  const text = path.toString()
  if (stat.isDirectory()) {
    const ways = pipesIn(text).map((pipe) => pipe.via ?? pipe.path)
    for (const way of new Set(ways)) remove(worktree, latin1Below(worktree, way), holes)
    return
  }
  const file = stat.isSymbolicLink() ? followed(text) : text
  const isFolder = file !== null && statSync(file, { throwIfNoEntry: false })?.isDirectory()
  const target = file === null || isFolder ? file : readGitFile(file)
  if (target !== null && pipesIn(target).length > 0) remove(worktree, name, holes)
}

function followed(link: string): string | null {
  try {
    return realPath(link)
  } catch {
    return null
  }
}

function latin1Below(worktree: string, path: string): string {
  return Buffer.from(path.slice(worktree.length + 1)).toString('latin1')
}

/** Pipes below a folder that is named `.git` are git's to open, whatever they are called. */
function isInGit(name: string): boolean {
  return /(?:^|\/)\.git\//i.test(name)
}

function remove(worktree: string, name: string, holes: Holes): void {
  rmSync(pathBytes(worktree, name) as unknown as string, { force: true })
  holes.removed.push(name)
}

function namesIn(folder: Buffer): string[] {
  return readdirSync(folder, { encoding: 'buffer' }).map((name) => name.toString('latin1'))
}

function grantFolder(path: Buffer, stat: Stats): void {
  if (stat.isDirectory() && (stat.mode & 0o700) !== 0o700) grant(path, stat.mode | 0o700)
}

/** Gives the owner of a worktree the way into it, which a session can have taken. What stands in its place is left alone. */
export function openRoot(worktree: string): void {
  // Without a slash at its end: a link in its place is looked at itself.
  const stat = lstatSync(worktree, { throwIfNoEntry: false })
  if (stat) grantFolder(Buffer.from(worktree), stat)
}

function canRead(path: Buffer, stat: Stats): boolean {
  if ((stat.mode & 0o400) !== 0 && stat.uid === process.geteuid?.()) return true
  if ((stat.mode & 0o400) === 0) grant(path, stat.mode | 0o400)
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Another user's files keep their rights; whether they can be read all the same shows when they are. */
function grant(path: Buffer, mode: number): void {
  try {
    chmodSync(path, mode & 0o7777)
  } catch {}
}
