import { lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errors } from '../errors.ts'
import { type GitPlace, gitNow } from './git.ts'
import { runsIn } from './holders.ts'
import { quoteArgument, type Repository } from './repository.ts'
import { readLine } from './small-file.ts'

/** Where a checkout's HEAD is. */
export interface Head {
  /** The branch without `refs/heads/`; null when HEAD is detached or names something else. */
  branch: string | null
  /** Null when there is none. */
  commit: string | null
}

/**
 * The git folder that belongs to a checkout, found from the repository's side: a checkout's own `.git` file is in reach
 * of whoever works there. Null when the repository does not know the checkout.
 */
export function checkoutDir(repo: Repository, worktree: string): string | null {
  const wanted = canonical(join(worktree, '.git'))
  if (wanted === canonical(join(repo.toplevel, '.git'))) return repo.gitDir
  const all = join(repo.commonDir, 'worktrees')
  for (const name of readNames(all)) {
    const entry = join(all, name)
    const file = readLine(join(entry, 'gitdir'))
    if (file && canonical(resolve(entry, file)) === wanted) return entry
  }
  return null
}

/** Where git calls about one checkout's HEAD and reflog go. Throws when the repository does not know the checkout. */
export function checkoutPlace(repo: Repository, worktree: string): GitPlace {
  const gitDir = checkoutDir(repo, worktree)
  if (!gitDir) {
    const fix = `mv ${quoteArgument(worktree)} ${quoteArgument(`${worktree}.old`)}`
    throw errors.worktreeUnusable(worktree, `${repo.commonDir} has no such worktree`, fix)
  }
  return { gitDir, commonDir: repo.commonDir, workTree: worktree }
}

/** The branch and commit that a checkout is on; both null for a folder that is none of the repository's. */
export function headOf(repo: Repository, worktree: string): Head {
  const gitDir = checkoutDir(repo, worktree)
  if (!gitDir) return { branch: null, commit: null }
  const place = { gitDir, commonDir: repo.commonDir }
  const target = gitNow(place, ['symbolic-ref', '--quiet', 'HEAD'])
  return {
    branch: target?.startsWith('refs/heads/') ? target.slice('refs/heads/'.length) : null,
    commit: gitNow(place, ['rev-parse', '--verify', '--quiet', '--end-of-options', 'HEAD^{commit}']),
  }
}

/**
 * Removes the `index.lock` that a killed git left in a loop's own worktree. Throws, naming the file, when a git process
 * still works there, and for any other checkout.
 */
export function clearStaleLock(repo: Repository, worktree: string): void {
  const gitDir = checkoutDir(repo, worktree)
  if (!gitDir) return
  const lock = join(gitDir, 'index.lock')
  if (!lstatSync(lock, { throwIfNoEntry: false })) return
  if (gitDir === repo.gitDir || runsIn('git', worktree))
    throw errors.gitLocked(lock, `rm ${quoteArgument(lock)}`)
  rmSync(lock, { force: true })
}

/** The names in a folder; none when it is missing. */
export function readNames(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** A path by which two spellings can be compared; the last two parts may be missing or be links. */
function canonical(gitFile: string): string {
  const worktree = dirname(gitFile)
  try {
    return join(realpathSync(dirname(worktree)), basename(worktree), basename(gitFile))
  } catch {
    return gitFile
  }
}
