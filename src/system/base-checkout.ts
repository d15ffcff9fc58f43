import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gitBytes } from './git.ts'
import { hold, privateGit, removeHeld, sweepPrivateGits } from './private.ts'
import type { Repository } from './repository.ts'
import { temporaryFolder } from './temporary.ts'

/** A commit's files in a temporary folder; it goes with its scope. */
export interface BaseCheckout extends Disposable {
  /** The folder with the commit's files, and nothing else. */
  path: string
}

/**
 * Writes a commit's files into a temporary folder: without the repository's hooks and filters, and without a `.git`. The
 * folder is one of those that {@link sweepPrivateGits} takes away when their process has died.
 */
export async function checkoutBase(o: { repo: Repository; commit: string }): Promise<BaseCheckout> {
  sweepPrivateGits()
  const dir = temporaryFolder('automaton-git-base-')
  const release = hold(dir)
  const path = join(dir, 'base')
  const checkout = {
    path,
    [Symbol.dispose]() {
      removeHeld(dir, release)
    },
  }
  try {
    mkdirSync(path, { mode: 0o700 })
    await using own = privateGit({ repo: o.repo, workTree: path, persist: false })
    await gitBytes(own.place, ['read-tree', '--reset', '-u', '--end-of-options', o.commit])
    return checkout
  } catch (error) {
    checkout[Symbol.dispose]()
    throw error
  }
}

/** What is looked at below a folder. */
export interface FileSearch {
  folder: string
  /** Asked with each file's path below the folder, `/` between names. */
  matches(path: string): boolean
  maxFiles: number
  maxBytes: number
}

/** Plain files below a folder as text, by name. No link is followed; what is too large is left out. */
export function readFilesBelow(search: FileSearch): { path: string; text: string }[] {
  const found: { path: string; text: string }[] = []
  const walk = (below: string): void => {
    const entries = readdirSync(join(search.folder, below), { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= search.maxFiles) return
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      // Reports of the packages that a check installed are none of the project's.
      if (entry.isDirectory() && entry.name !== 'node_modules') walk(path)
      else if (entry.isFile() && search.matches(path)) add(path)
    }
  }
  const add = (path: string) => {
    const file = join(search.folder, path)
    if ((lstatSync(file, { throwIfNoEntry: false })?.size ?? search.maxBytes + 1) > search.maxBytes) return
    found.push({ path, text: readFileSync(file, 'utf8') })
  }
  walk('')
  return found
}
