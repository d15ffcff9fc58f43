import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errors } from '../errors.ts'
import { type GitPlace, gitNow } from './git.ts'
import { runsIn } from './holders.ts'
import { realPath } from './real-path.ts'
import { quoteArgument, type Repository } from './repository.ts'
import { readLine } from './small-file.ts'

/** Where a checkout's HEAD is. */
export interface Head {
  /** The branch without `refs/heads/`; null when HEAD is detached or names something else. */
  branch: string | null
  /** Null when there is none. */
  commit: string | null
  /** The commit's tree. */
  tree: string | null
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

/** What a checkout is on; all null for a folder that is none of the repository's. */
export function headOf(repo: Repository, worktree: string): Head {
  const gitDir = checkoutDir(repo, worktree)
  if (!gitDir) return { branch: null, commit: null, tree: null }
  const place = { gitDir, commonDir: repo.commonDir }
  // One call for all of it. It fails, or says something else, on a branch without a commit and where names are ambiguous.
  const said = gitNow(place, ['rev-parse', 'HEAD^{commit}', 'HEAD^{tree}', '--symbolic-full-name', 'HEAD'])
  const [, commit, tree, target] = /^([0-9a-f]{40,64})\n([0-9a-f]{40,64})\n(.+)$/.exec(said ?? '') ?? []
  if (commit && tree && target) return { branch: branchIn(target), commit, tree }
  const verified = (name: string) =>
    gitNow(place, ['rev-parse', '--verify', '--quiet', '--end-of-options', name])
  const branch = branchIn(gitNow(place, ['symbolic-ref', '--quiet', 'HEAD']) ?? '')
  return { branch, commit: verified('HEAD^{commit}'), tree: verified('HEAD^{tree}') }
}

/**
 * Removes the locks that a killed git left on the index and HEAD of a loop's own worktree, and on a ref that is the
 * loop's alone. Throws, naming the file, when a git process still works there, and for any other checkout.
 */
export function clearStaleLocks(repo: Repository, worktree: string, ref?: string): void {
  const gitDir = checkoutDir(repo, worktree)
  const own = gitDir ? [join(gitDir, 'index.lock'), join(gitDir, 'HEAD.lock')] : []
  const isThere = (lock: string) => lstatSync(lock, { throwIfNoEntry: false }) !== undefined
  for (const lock of own.filter(isThere)) {
    if (gitDir === repo.gitDir || runsIn('git', worktree))
      throw errors.gitLocked(lock, `rm ${quoteArgument(lock)}`)
    rmSync(lock, { force: true })
  }
  if (ref !== undefined) clearRefLock(repo, ref)
}

/** Removes the lock that a killed git left on a ref that nobody but automaton moves. Throws when git runs in the repository. */
export function clearRefLock(repo: Repository, ref: string): void {
  const lock = join(repo.commonDir, `${ref}.lock`)
  // A branch may stand where the ref's folder would be.
  if (!readNames(dirname(lock)).includes(basename(lock))) return
  if ([repo.toplevel, repo.commonDir].some((folder) => runsIn('git', folder)))
    throw errors.gitLocked(lock, `rm ${quoteArgument(lock)}`)
  rmSync(lock, { force: true })
}

function branchIn(ref: string): string | null {
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null
}

/** The names in a folder; none when it is missing or cannot be read, but not for a fault that passes. */
export function readNames(folder: string): string[] {
  for (let left = 1; ; left--) {
    try {
      return readdirSync(folder).sort()
    } catch {
      if (left === 0) return []
    }
  }
}

/** A path by which two spellings can be compared; the last two parts may be missing or be links. */
function canonical(gitFile: string): string {
  const worktree = dirname(gitFile)
  try {
    return join(realPath(dirname(worktree)), basename(worktree), basename(gitFile))
  } catch {
    return gitFile
  }
}
