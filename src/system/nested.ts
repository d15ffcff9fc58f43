import { cpSync, lstatSync, mkdirSync, renameSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { type GitPlace, gitBytes } from './git.ts'
import { pathBytes, splitNames } from './names.ts'
import { patiently } from './patience.ts'
import { removeTree } from './remove.ts'
import { findRepository } from './repository.ts'
import { runFolder, snapshot } from './snapshot.ts'

/** Git's mode of another repository's commit in a tree. */
export const gitlink = '160000'

/**
 * The submodules of a tree that hold anything else than the commit that the tree names; one character a byte. One that
 * nobody filled holds nothing. They are read with a git folder of our own, so that no setting of theirs acts.
 */
export async function dirtySubmodules(o: {
  place: GitPlace
  tree: string
  worktree: string
}): Promise<string[]> {
  const { place, tree, worktree } = o
  const list = await gitBytes(place, ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', tree])
  const dirty: string[] = []
  for (const line of splitNames(list)) {
    if (!line.startsWith(`${gitlink} `)) continue
    const [head = '', name = ''] = line.split('\t', 2)
    const path = pathBytes(worktree, name)
    if (!exists(pathBytes(worktree, `${name}/.git`))) continue
    if (!(await holds(path.toString(), head.split(' ')[2] ?? ''))) dirty.push(name)
  }
  return dirty
}

/** Moves folders out of a worktree to their names below another folder. What is there already is never written over. */
export function moveAside(o: { worktree: string; names: readonly string[]; into: string }): void {
  const { worktree, names, into } = o
  for (const name of names) {
    const from = pathBytes(worktree, name)
    if (name.split('/').includes('..') || !exists(from)) continue
    let to = pathBytes(into, name)
    for (let n = 2; exists(to); n++) to = pathBytes(into, `${name}-${n}`)
    const parent = to.subarray(0, to.lastIndexOf('/'))
    mkdirSync(parent, { recursive: true, mode: 0o700 })
    move(from, to)
  }
}

/** Whether a repository is at a commit and has neither changes nor files of its own. What cannot be read is not. */
async function holds(folder: string, commit: string): Promise<boolean> {
  if (exists(join(folder, runFolder))) return false
  try {
    const found = findRepository(folder)
    if (found?.prefix !== '') return false
    // A prefix that no folder has: nothing in here is automaton's own, so nothing is passed over.
    const repo = { ...found, prefix: '.git/' }
    await using now = await snapshot({ repo, worktree: found.toplevel, persist: false })
    const { head, tree, place } = now
    if (head.commit !== commit || head.tree !== tree) return false
    if (now.tainted.length > 0 || now.ignoredProtected.length > 0) return false
    return (await dirtySubmodules({ place, tree, worktree: found.toplevel })).length === 0
  } catch {
    return false
  }
}

/** A folder on another device is copied whole before it goes. */
function move(from: Buffer, to: Buffer): void {
  try {
    patiently(() => renameSync(from, to))
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EXDEV') throw error
    const part = Buffer.concat([to, Buffer.from('.part')])
    removeTree(part)
    // A pipe would be waited for; like a socket it holds nothing.
    const filter = (file: string) => isKept(lstatSync(file))
    cpSync(from.toString(), part.toString(), { recursive: true, verbatimSymlinks: true, filter })
    renameSync(part, to)
    removeTree(from)
  }
}

function isKept(stat: Stats): boolean {
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()
}

function exists(path: string | Buffer): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
