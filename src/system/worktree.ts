import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errors } from '../errors.ts'
import { checkoutDir, checkoutPlace, clearRefLock, clearStaleLocks, headOf, readNames } from './checkout.ts'
import { installIndex } from './checkout-index.ts'
import { failure, git, gitBytes, gitText, resolveCommit, together } from './git.ts'
import { privateGit } from './private.ts'
import { realPath } from './real-path.ts'
import { removeTree } from './remove.ts'
import { quoteArgument, type Repository, readGitFile, repositoryPlace } from './repository.ts'
import { putBack, repairGitFile } from './restore.ts'
import { readLine } from './small-file.ts'

export { type Head, headOf } from './checkout.ts'
export { isMerged } from './merged.ts'

/** A loop's worktree. */
export interface WorktreeOptions {
  repo: Repository
  /** Absolute. */
  path: string
  /** Without `refs/heads/`. */
  branch: string
  /** The commit that a new branch starts from. */
  base: string
}

/**
 * Makes a worktree on a branch, or checks that the one at the path is still the one that was made. A worktree whose
 * folder somebody deleted is made again; one that is locked, replaced or on another branch is an error with a command
 * that puts it right. Files are written without the repository's filters and hooks; its configuration is not touched.
 */
export async function ensureWorktree(options: WorktreeOptions): Promise<'created' | 'reused'> {
  const { repo, path, branch, base } = options
  const known = checkoutDir(repo, path)
  const kind = lstatSync(path, { throwIfNoEntry: false })
  if (known && isLocked(known)) throw lockedError(repo, path)
  if (kind && !kind.isDirectory())
    throw replaced(path, kind.isSymbolicLink() ? 'it is a symbolic link' : 'it is a file')
  const isEmpty = !kind || readdirSync(path).every((name) => name === '.git' && isUnfinished(known))
  if (known && !isEmpty) {
    // One that is missing or empty leads nowhere: a process was killed while it wrote it.
    if ((lstatSync(join(path, '.git'), { throwIfNoEntry: false })?.size ?? 0) === 0)
      repairGitFile(path, known)
    checkOwn({ repo, path, branch, gitDir: known })
    clearStaleLocks(repo, path, `refs/heads/${branch}`)
    // A process that was killed while it made the worktree leaves one without an index.
    if (!existsSync(join(known, 'index')))
      await restoreWorktree({ repo, worktree: path, commit: headOrBase(options), branch })
    return 'reused'
  }
  if (!isEmpty) throw replaced(path, 'it is not a worktree of this repository')
  if (known) removeTree(known)
  rmSync(join(path, '.git'), { force: true })
  await create(options)
  await restoreWorktree({
    repo,
    worktree: path,
    commit: (await resolveCommit(repo, `refs/heads/${branch}`)) ?? base,
    branch,
  })
  return 'created'
}

/**
 * Puts a worktree back to a commit: its branch, its HEAD, its index and its files. Files that nobody tracks go, protected
 * names that are ignored included; other ignored files stay. Keep the old state first, if anybody may want it. Other
 * repositories in it, and submodules that were changed, are moved to the folder `aside`. Without `branch` the branch is `automaton/` and the name of the folder that holds the worktree.
 */
export async function restoreWorktree(options: {
  repo: Repository
  worktree: string
  commit: string
  branch?: string
  /** Default `kept/put-back` beside the worktree. */
  aside?: string
}): Promise<void> {
  const { repo, worktree, commit, aside, branch = `automaton/${basename(dirname(worktree))}` } = options
  const place = checkoutPlace(repo, worktree)
  const { gitDir } = place
  if (gitDir === repo.gitDir) throw replaced(worktree, "it is the person's own checkout")
  if (isLocked(gitDir)) throw lockedError(repo, worktree)
  clearStaleLocks(repo, worktree, `refs/heads/${branch}`)
  await putBack({ repo, worktree, gitDir, commit, ...(aside !== undefined && { aside }) })
  await gitBytes(place, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  const message = 'automaton: put back'
  await gitBytes(place, ['update-ref', '-m', message, '--end-of-options', `refs/heads/${branch}`, commit])
}

/** A commit that automaton makes of a tree; the worktree's files are not looked at. */
export interface CommitOptions {
  repo: Repository
  worktree: string
  tree: string
  /** Moved to the new commit if it still is at `parent`; null makes the commit and moves nothing. */
  branch: string | null
  parent: string
  message: string
  /** ISO-8601. */
  at: string
}

/** Commits a tree in the name of automaton, without hooks and signatures, and returns the commit's id. */
export async function commitWorktree(options: CommitOptions): Promise<string> {
  const { repo, worktree, tree, branch, parent, message, at } = options
  await using own = privateGit({ repo, workTree: worktree, persist: true })
  const args = ['commit-tree', '-p', parent, '-F', '-', tree]
  const [commit] = await together([
    gitText(own.place, args, { stdin: message, commitAt: at }),
    branch !== null && gitBytes(own.place, ['read-tree', tree]),
  ])
  if (branch === null) return commit
  const place = checkoutPlace(repo, worktree)
  clearStaleLocks(repo, worktree, `refs/heads/${branch}`)
  const subject = `commit: ${message.split('\n', 1)[0]}`
  const move = ['update-ref', '-m', subject, '--end-of-options', `refs/heads/${branch}`, commit, parent]
  // Status 1 of the refresh says that files differ from the tree, which is theirs to do.
  const [refresh] = await together([
    git(own.place, ['update-index', '-q', '--refresh']),
    gitBytes(place, move, { commitAt: at }),
  ])
  if (refresh.code > 1) throw errors.gitFailed('git update-index --refresh', refresh.stderr)
  installIndex({ gitDir: place.gitDir, index: own.place.index })
  return commit
}

/** Makes a ref that keeps a commit from being thrown away. */
export async function keep({
  repo,
  ref,
  commit,
}: {
  repo: Repository
  ref: string
  commit: string
}): Promise<void> {
  clearRefLock(repo, ref)
  const args = ['update-ref', '-m', 'automaton: keep', '--end-of-options', ref, commit]
  const result = await git(repositoryPlace(repo), args).catch((error: unknown) => ({ error }))
  if ('code' in result && result.code === 0) return
  // Of a name that no later try has: what a killed git left there would stay for good.
  clearRefLock(repo, ref)
  throw 'error' in result ? result.error : failure(args, result)
}

async function create({ repo, path, branch, base }: WorktreeOptions): Promise<void> {
  const ref = `refs/heads/${branch}`
  const user = whoHas(repo, ref)
  if (user) {
    const [folder, verb] = existsSync(user) ? [user, 'switch --detach'] : [repo.toplevel, 'worktree prune']
    const why = `it is checked out in ${user}`
    throw errors.branchUnusable(branch, why, `git -C ${quoteArgument(folder)} ${verb}`)
  }
  clearRefLock(repo, ref)
  const place = { ...repositoryPlace(repo), gitDir: repo.commonDir }
  if (!(await resolveCommit(repo, ref))) {
    const blocker = branch.split('/', 1)[0] ?? ''
    if (blocker !== branch && (await resolveCommit(repo, `refs/heads/${blocker}`))) {
      const why = `a branch named ${blocker} is in its way`
      throw errors.branchUnusable(branch, why, `git branch -m ${blocker} ${blocker}-old`)
    }
    const noOld = '0'.repeat(base.length)
    await gitBytes(place, ['update-ref', '-m', 'automaton: start', '--end-of-options', ref, base, noOld])
  }
  await gitBytes(place, ['worktree', 'add', '--no-checkout', '--quiet', path, branch])
}

function checkOwn({
  repo,
  path,
  branch,
  gitDir,
}: Pick<WorktreeOptions, 'repo' | 'path' | 'branch'> & { gitDir: string }) {
  const file = join(path, '.git')
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false
  const target = isFile ? readGitFile(file) : null
  if (!target || !isSame(target, gitDir)) throw replaced(path, 'its .git does not lead to this repository')
  const common = readLine(join(gitDir, 'commondir'))
  if (!common || (!isSame(join(gitDir, common), repo.commonDir) && !isSame(common, repo.commonDir))) {
    throw replaced(path, `${join(gitDir, 'commondir')} does not lead to this repository`)
  }
  const head = headOf(repo, path)
  if (head.branch === branch) return
  const on = head.branch ?? 'no branch'
  const fix = `git -C ${quoteArgument(path)} switch ${quoteArgument(branch)}`
  throw errors.worktreeUnusable(path, `it is on ${on} instead of ${branch}`, fix)
}

/** While git makes a worktree it holds a lock of its own, which stays when it is killed. */
const unfinishedLock = 'initializing'

function isUnfinished(gitDir: string | null): boolean {
  return gitDir !== null && readLine(join(gitDir, 'locked')) === unfinishedLock
}

function isLocked(gitDir: string): boolean {
  return existsSync(join(gitDir, 'locked')) && !isUnfinished(gitDir)
}

function headOrBase({ repo, path, base }: WorktreeOptions): string {
  return headOf(repo, path).commit ?? base
}

/** The checkout that has a branch, or null. */
function whoHas(repo: Repository, ref: string): string | null {
  const all = join(repo.commonDir, 'worktrees')
  const linked = readNames(all).map((name) => join(all, name))
  const user = [repo.commonDir, ...linked].find((folder) => readLine(join(folder, 'HEAD')) === `ref: ${ref}`)
  if (!user) return null
  const file = user === repo.commonDir ? null : readLine(join(user, 'gitdir'))
  return dirname(file ?? user)
}

function isSame(a: string, b: string): boolean {
  try {
    return realPath(a) === realPath(b)
  } catch {
    return false
  }
}

function replaced(path: string, why: string) {
  const quoted = quoteArgument(path)
  return errors.worktreeUnusable(path, why, `mv ${quoted} ${quoteArgument(`${path}.old`)}`)
}

function lockedError(repo: Repository, path: string) {
  const fix = `git -C ${quoteArgument(repo.toplevel)} worktree unlock ${quoteArgument(path)}`
  return errors.worktreeUnusable(path, 'somebody locked it', fix)
}
