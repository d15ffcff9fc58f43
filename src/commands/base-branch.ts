import { git, resolveCommit } from '../system/git.ts'
import { type Repository, repositoryPlace } from '../system/repository.ts'

/** What a repository says about its branches. */
export interface Branches {
  /** The branch that loops start from: what `origin/HEAD` names, else the one checked out; null when neither says. */
  base: string | null
  /** True before the first commit. */
  unborn: boolean
}

/** Finds the base branch. A branch counts only where it exists here. */
export async function findBranches(repo: Repository): Promise<Branches> {
  const current = await currentBranch(repo)
  const origin = await symbolic(repo, 'refs/remotes/origin/HEAD', 'refs/remotes/origin/')
  for (const name of [origin, current]) {
    if (name !== null && (await resolveCommit(repo, `refs/heads/${name}`)))
      return { base: name, unborn: false }
  }
  const unborn = (await resolveCommit(repo, 'HEAD')) === null
  return { base: unborn ? current : null, unborn }
}

/** The branch that is checked out, one without a commit included; null for a detached HEAD. */
export function currentBranch(repo: Repository): Promise<string | null> {
  return symbolic(repo, 'HEAD', 'refs/heads/')
}

/** What a symbolic ref names, without the prefix. Asked of git, which knows every way to store refs. */
async function symbolic(repo: Repository, ref: string, prefix: string): Promise<string | null> {
  const { code, stdout } = await git(repositoryPlace(repo), ['symbolic-ref', '--quiet', ref])
  const target = code === 0 ? stdout.toString('utf8').trim() : ''
  return target.startsWith(prefix) ? target.slice(prefix.length) : null
}
