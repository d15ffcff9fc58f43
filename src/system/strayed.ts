import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { checkoutDir, readNames } from './checkout.ts'
import { type Repository, readGitFile } from './repository.ts'
import { isRealFolder, readLine } from './small-file.ts'

/** A loop's worktree that its repository knows by another place: the folder of the project went somewhere else. */
export interface Strayed {
  /** `moved`: nothing is left at the other place. `copied`: a worktree is there, and is another loop's. */
  kind: 'moved' | 'copied'
  /** The repository's own folder for the worktree. */
  admin: string
  /** Where the worktree is by that folder. */
  was: string
}

/** Which worktree: its place now, and its branch without `refs/heads/`. */
export interface Straying {
  repo: Repository
  path: string
  branch: string
}

/**
 * Finds out whether a repository was moved or copied since a worktree was made. It is, when the worktree's place is
 * unknown and exactly one entry of the repository is on the loop's branch and names the same place in another folder.
 * What the worktree's own `.git` file says is not asked: a session can write it.
 */
export function findStrayed({ repo, path, branch }: Straying): Strayed | null {
  if (checkoutDir(repo, path)) return null
  const all = join(repo.commonDir, 'worktrees')
  const tail = `/${slashed(relative(repo.toplevel, join(path, '.git')))}`
  const found = readNames(all).flatMap((name): Strayed[] => {
    const admin = join(all, name)
    const file = isRealFolder(admin) ? readLine(join(admin, 'gitdir')) : null
    if (!file || readLine(join(admin, 'HEAD')) !== `ref: refs/heads/${branch}`) return []
    const there = resolve(admin, file)
    if (!slashed(there).endsWith(tail)) return []
    const was = dirname(there)
    // A worktree of this very repository, as where a project lies in two checkouts of it: nothing strayed.
    if (isSame(readGitFile(there), admin)) return []
    return [{ kind: isAnother(was, path) ? 'copied' : 'moved', admin, was }]
  })
  return found.length === 1 ? (found[0] ?? null) : null
}

/** Whether a worktree lies at the other place which is not the same folder by another name. */
function isAnother(was: string, path: string): boolean {
  if (!lstatSync(join(was, '.git'), { throwIfNoEntry: false })) return false
  const [a, b] = [was, path].map((folder) => statSync(folder, { throwIfNoEntry: false }))
  return !(a && b && a.dev === b.dev && a.ino === b.ino)
}

function isSame(named: string | null, admin: string): boolean {
  try {
    return named !== null && realpathSync(named) === realpathSync(admin)
  } catch {
    return false
  }
}

function slashed(path: string): string {
  return path.split(sep).join('/')
}
