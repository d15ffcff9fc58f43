import { lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { skeleton } from '../assets/skeleton.ts'
import { errors } from '../errors.ts'
import { plainReason, syncFolder } from '../store/atomic.ts'
import { fastForward } from '../system/fast-forward.ts'
import { type GitPlace, gitBytes, gitText, resolveCommit } from '../system/git.ts'
import { splitNames } from '../system/names.ts'
import { withoutPassword } from '../system/person-git.ts'
import {
  cloneInto,
  fetchBranch,
  isAncestor,
  type Reach,
  remoteBranch,
  sameUrl,
  upstreamOf,
} from '../system/remote.ts'
import { removeTree } from '../system/remove.ts'
import { findRepository, type Repository, repositoryPlace } from '../system/repository.ts'
import { isRealFolder, readSmall } from '../system/small-file.ts'
import { currentBranch } from './base-branch.ts'

/** What became of the person's repository. */
export interface HomeReport {
  /** `filled`: it was empty, and got the skeleton. `ahead`: HOME has commits that the remote lacks. */
  outcome: 'cloned' | 'filled' | 'updated' | 'current' | 'ahead'
  /** The remote's address, without a password. */
  url: string
  branch: string
  /** The commit that is checked out. */
  commit: string
  /** True when the remote lacks the branch, or commits of it. Automaton pushes nothing. */
  unpushed: boolean
}

/** Where a clone is made before HOME gets it; in HOME, which may be a file system of its own. */
export const stageName = '.automaton-install'

/** Whether a clone is whole and waits to be moved into HOME. */
export function isCloned(home: string): boolean {
  return isRealFolder(join(home, stageName, 'ready', '.git'))
}

/** Clones the repository into a HOME that holds nothing; an empty one is filled. Throws `clone_failed`. */
export async function cloneHome(o: {
  home: string
  url: string
  /** ISO-8601; the time of the skeleton's commit. */
  at: string
  reach: Reach
}): Promise<HomeReport> {
  const stage = join(o.home, stageName)
  const clone = join(stage, 'clone')
  removeTree(clone)
  await cloneInto(o.url, clone, o.reach)
  const repo = repositoryIn(clone)
  const commit = await resolveCommit(repo, 'HEAD')
  if (commit === null) await fill(repo, { url: o.url, at: o.at, home: o.home })
  await refuseCollisions(repo, o.home)
  o.reach.signal.throwIfAborted()
  renameSync(clone, join(stage, 'ready'))
  return { ...(await finishClone(o.home)), ...(commit === null ? { outcome: 'filled', unpushed: true } : {}) }
}

/** Moves a whole clone into HOME, its git folder last: until then HOME is no repository, and the next call goes on. */
export async function finishClone(home: string): Promise<HomeReport> {
  const ready = join(home, stageName, 'ready')
  try {
    for (const name of readdirSync(ready)) if (name !== '.git') moveInto(join(ready, name), join(home, name))
    renameSync(join(ready, '.git'), join(home, '.git'))
    syncFolder(home)
  } catch (error) {
    throw errors.writeFailed(home, plainReason(error), error)
  }
  const { repo, branch, commit } = await standing(home)
  const { url } = await upstreamOf(repo, branch)
  const unpushed = (await resolveCommit(repo, `refs/remotes/origin/${branch}`)) !== commit
  return { outcome: 'cloned', url: withoutPassword(url ?? ''), branch, commit, unpushed }
}

/** Moves a file or folder to its place. Folders that are there are gone into, and files that are there stay. */
function moveInto(from: string, to: string): void {
  if (!isThere(to)) renameSync(from, to)
  else if (isRealFolder(from) && isRealFolder(to))
    for (const name of readdirSync(from)) moveInto(join(from, name), join(to, name))
}

/** Files that a person has here already stay theirs: where the repository has others in their place, nothing is done. */
async function refuseCollisions(repo: Repository, home: string): Promise<void> {
  const tracked = splitNames(await gitBytes(repositoryPlace(repo), ['ls-files', '-z']))
  const names = tracked.map((name) => Buffer.from(name, 'latin1').toString('utf8'))
  const taken = names.filter(
    (name) => isThere(join(home, name)) && !sameFile(join(home, name), join(repo.toplevel, name)),
  )
  if (taken.length > 0) throw errors.homeTaken(home, `your repository has another ${taken[0]}`)
}

/** Brings a HOME up to its remote, forward only. Throws `usage` for another address than the one that it came from. */
export async function updateHome(o: { home: string; url: string | null; reach: Reach }): Promise<HomeReport> {
  const { repo, branch, commit } = await standing(o.home)
  const upstream = await upstreamOf(repo, branch)
  if (upstream.url === null) throw errors.noGitUrl()
  if (o.url !== null && !sameUrl(o.url, upstream.url)) {
    const why = `it is a clone of ${withoutPassword(upstream.url)}`
    const fix = `git -C '${o.home}' remote set-url origin URL, then run the installer again`
    throw errors.usage(`another repository (${o.home})`, why, fix)
  }
  const remote = await remoteBranch(upstream.url, upstream.branch, o.reach)
  const report = (outcome: HomeReport['outcome'], at = commit): HomeReport => {
    const unpushed = remote === null || outcome === 'ahead'
    return { outcome, url: withoutPassword(upstream.url ?? ''), branch, commit: at, unpushed }
  }
  if (remote === null || remote === commit) return report('current')
  if ((await resolveCommit(repo, remote)) && (await isAncestor(repo, remote, commit))) return report('ahead')
  const to = await fetchBranch({
    ...{ repo, url: upstream.url, branch: upstream.branch },
    ...{ have: commit, reach: o.reach },
  })
  if (!(await isAncestor(repo, commit, to))) throw errors.homeDiverged(o.home, branch)
  await fastForward({ repo, branch, from: commit, to, upstream: upstream.branch })
  return report('updated', to)
}

/** The repository that HOME is, and what is checked out there. */
async function standing(home: string): Promise<{ repo: Repository; branch: string; commit: string }> {
  const repo = repositoryIn(home)
  const branch = await currentBranch(repo)
  const again = 'then run the installer again'
  if (branch === null) {
    const why = 'no branch is checked out, so that there is nothing to update'
    throw errors.repositoryBroken(home, why, `git -C '${home}' switch main, ${again}`)
  }
  const commit = await resolveCommit(repo, 'HEAD')
  if (commit !== null) return { repo, branch, commit }
  const why = `its branch ${branch} has no commit`
  throw errors.repositoryBroken(home, why, `commit something in '${home}', ${again}`)
}

function repositoryIn(folder: string): Repository {
  const repo = findRepository(folder)
  if (repo?.toplevel === folder) return repo
  throw errors.repositoryBroken(folder, 'it is not the root of a repository', `git -C '${folder}' status`)
}

/** Gives an empty repository its first commit. One that has branches, but none to check out, is not empty. */
async function fill(repo: Repository, o: { url: string; at: string; home: string }): Promise<void> {
  const branch = await currentBranch(repo)
  const place: GitPlace & { index: string } = {
    ...repositoryPlace(repo),
    index: join(repo.gitDir, 'index'),
  }
  const refs = await gitText(place, ['for-each-ref', '--format=%(refname)'])
  if (refs !== '' || branch === null) {
    const why = 'it has branches, but its default branch does not exist'
    throw errors.cloneFailed(withoutPassword(o.url), why)
  }
  for (const [path, text] of skeleton) {
    if (isThere(join(o.home, path))) continue
    const file = join(repo.toplevel, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  await gitBytes(place, ['add', '--all'])
  const tree = await gitText(place, ['write-tree'])
  const message = 'Start a HOME for automaton\n'
  const commit = await gitText(place, ['commit-tree', '-F', '-', tree], { stdin: message, commitAt: o.at })
  await gitBytes(place, ['update-ref', '--end-of-options', `refs/heads/${branch}`, commit])
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function sameFile(a: string, b: string): boolean {
  const [one, other] = [readSmall(a), readSmall(b)]
  return one !== null && one === other
}
