import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errors } from '../errors.ts'
import { git, gitBytes, gitText } from './git.ts'
import { splitNames } from './names.ts'
import { lastWords, type PersonGitOptions, personGit, withoutPassword } from './person-git.ts'
import { privateGit } from './private.ts'
import { type Repository, repositoryPlace } from './repository.ts'

/** How a remote is reached. */
export type Reach = Pick<PersonGitOptions, 'env' | 'interactive' | 'signal'>

/** Clones a repository into a folder that does not exist. Files are copied, also from this disk. Throws `clone_failed`. */
export async function cloneInto(url: string, folder: string, reach: Reach): Promise<void> {
  const args = ['clone', '--quiet', '--no-hardlinks', '--template=', '--origin', 'origin']
  const result = await personGit([...args, '--', url, folder], reach)
  if (result.code !== 0) throw errors.cloneFailed(withoutPassword(url), lastWords(result))
}

/** The commit of a remote's branch; null when the remote has no such branch. Throws `clone_failed`. */
export async function remoteBranch(url: string, branch: string, reach: Reach): Promise<string | null> {
  const result = await personGit(['ls-remote', '--quiet', '--', url, `refs/heads/${branch}`], reach)
  if (result.code !== 0) throw errors.cloneFailed(withoutPassword(url), lastWords(result))
  return /^([0-9a-f]{40,64})\trefs\/heads\//m.exec(result.stdout)?.[1] ?? null
}

/**
 * Fetches one branch into the repository's objects and returns its commit; no ref moves. A git folder of our own talks to
 * the remote, since the repository's settings are in reach of its loops. Throws `clone_failed`.
 */
export async function fetchBranch(o: {
  repo: Repository
  url: string
  branch: string
  /** What is here already, so that only the rest is sent. */
  have: string
  reach: Reach
}): Promise<string> {
  await using own = privateGit({ repo: o.repo, persist: true })
  const { gitDir, objects } = own.place
  writeFileSync(join(gitDir, 'refs', 'have'), `${o.have}\n`)
  const refspec = `+refs/heads/${o.branch}:refs/fetched`
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', o.url, refspec]
  const place = { gitDir, ...(objects === undefined ? {} : { objects }) }
  const result = await personGit(args, { ...o.reach, ...place, cwd: own.dir })
  if (result.code !== 0) throw errors.cloneFailed(withoutPassword(o.url), lastWords(result))
  return await gitText(own.place, ['rev-parse', '--verify', 'refs/fetched^{commit}'])
}

/** What a repository says of the branch that is checked out and of where it came from. */
export interface Upstream {
  /** The address of `origin`, or null. */
  url: string | null
  /** The branch of the remote that it follows; its own name when nothing says. */
  branch: string
}

/** Reads the remote of a branch from the repository's settings, which are parsed and not obeyed. */
export async function upstreamOf(repo: Repository, branch: string): Promise<Upstream> {
  await using own = privateGit({ repo, persist: false })
  const file = join(repo.commonDir, 'config')
  const output = await gitBytes(own.place, ['config', '--file', file, '--no-includes', '--list', '-z'])
  const settings = new Map(
    splitNames(output).map((entry): [string, string] => {
      const at = entry.indexOf('\n')
      const text = Buffer.from(at === -1 ? '' : entry.slice(at + 1), 'latin1').toString('utf8')
      return [at === -1 ? entry : entry.slice(0, at), text]
    }),
  )
  const merge = settings.get(`branch.${branch}.merge`) ?? ''
  return {
    url: settings.get('remote.origin.url') ?? null,
    branch: merge.startsWith('refs/heads/') ? merge.slice('refs/heads/'.length) : branch,
  }
}

/** Whether a commit is in the history of another. */
export async function isAncestor(repo: Repository, older: string, newer: string): Promise<boolean> {
  const place = repositoryPlace(repo)
  const { code } = await git(place, ['merge-base', '--is-ancestor', '--end-of-options', older, newer])
  return code === 0
}

/** An address as git will understand it from any folder: a path of this disk becomes absolute. */
export function absoluteUrl(url: string, cwd: string): string {
  const path = resolve(cwd, url)
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(url) && existsSync(path) ? path : url
}

/** Whether two addresses name the same repository, as far as their text says. */
export function sameUrl(a: string, b: string): boolean {
  const plain = (url: string) =>
    url
      .replace(/^file:\/\//, '')
      .replace(/\/+$/, '')
      .replace(/\.git$/, '')
  return plain(a) === plain(b)
}
