import { join } from 'node:path'
import { readBounded } from '../store/atomic.ts'
import { resolveCommit } from '../system/git.ts'
import type { Repository } from '../system/repository.ts'

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
  const origin = symbolic(join(repo.commonDir, 'refs', 'remotes', 'origin', 'HEAD'), 'refs/remotes/origin/')
  for (const name of [origin, current]) {
    if (name !== null && (await resolveCommit(repo, `refs/heads/${name}`)))
      return { base: name, unborn: false }
  }
  const unborn = (await resolveCommit(repo, 'HEAD')) === null
  return { base: unborn ? current : null, unborn }
}

/** The checked-out branch; null for a detached HEAD. simple-git knows every ref format, a file only the oldest. */
async function currentBranch(repo: Repository): Promise<string | null> {
  try {
    const { Repository: Git } = await import('@napi-rs/simple-git')
    const name = new Git(repo.gitDir).head().name()
    return name?.startsWith(heads) ? name.slice(heads.length) : null
  } catch {
    // No addon in this build, or a branch without a commit.
    return symbolic(join(repo.gitDir, 'HEAD'), heads)
  }
}

const heads = 'refs/heads/'

function symbolic(file: string, prefix: string): string | null {
  const target = /^ref: (\S+)\s*$/.exec(readBounded(file, 4096) ?? '')?.[1]
  return target?.startsWith(prefix) ? target.slice(prefix.length) : null
}
