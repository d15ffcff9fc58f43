import { lstatSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { errors } from '../errors.ts'
import type { GitPlace } from './git.ts'
import { gitSetting } from './git-config.ts'
import { realPath } from './real-path.ts'
import { readSmall } from './small-file.ts'

/** A repository with a checkout, as absolute paths without symbolic links. */
export interface Repository {
  /** The root of the checkout that the project lies in. */
  toplevel: string
  /** That checkout's own git folder. */
  gitDir: string
  /** The git folder that all checkouts share. */
  commonDir: string
  /** The project's place in the checkout: '' or 'sub/dir/'. */
  prefix: string
}

/**
 * The repository that a folder lies in; null when there is none. Reads files only and runs nothing, so that it is safe
 * in a folder that nobody vouches for. Throws when a `.git` is there but leads nowhere, or has no checkout.
 */
export function findRepository(root: string): Repository | null {
  const start = realPath(root)
  for (let folder = start; ; folder = dirname(folder)) {
    const gitDir = gitDirOf(folder)
    if (gitDir) return describe(folder, gitDir, start)
    if (dirname(folder) === folder) return null
  }
}

/** Where git calls about a repository's refs go. */
export function repositoryPlace(repo: Repository): GitPlace {
  return { gitDir: repo.gitDir, commonDir: repo.commonDir, workTree: repo.toplevel }
}

/** The folder that a `.git` file names, or null when the text is not one. Relative paths start at the file's folder. */
export function readGitFile(file: string): string | null {
  const named = /^gitdir: ([^\n]+)\n?$/.exec(readSmall(file) ?? '')?.[1]
  return named ? resolve(dirname(file), named) : null
}

function gitDirOf(folder: string): string | null {
  const entry = join(folder, '.git')
  const kind = lstatSync(entry, { throwIfNoEntry: false })
  if (!kind) return null
  if (statSync(entry, { throwIfNoEntry: false })?.isDirectory())
    return isGitDir(entry) ? realPath(entry) : null
  const target = kind.isFile() ? readGitFile(entry) : null
  if (target && isGitDir(target)) return realPath(target)
  const why = target ? `it names ${target}, which is not a git folder` : 'it names no git folder'
  throw errors.repositoryBroken(entry, why, `git -C ${quoteArgument(folder)} status`)
}

function describe(toplevel: string, gitDir: string, start: string): Repository {
  const commonDir = commonDirOf(gitDir)
  const below = relative(toplevel, start)
  if (gitDir === commonDir && gitSetting(join(commonDir, 'config'), 'core', 'bare') === 'true') {
    const fix = `git -C ${quoteArgument(toplevel)} config core.bare false`
    throw errors.repositoryBroken(gitDir, 'core.bare is true, so that it has no checkout', fix)
  }
  return { toplevel, gitDir, commonDir, prefix: below ? `${below.split(sep).join('/')}/` : '' }
}

function isGitDir(folder: string): boolean {
  const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
  if (!lstatSync(join(folder, 'HEAD'), { throwIfNoEntry: false })) return false
  return (
    isThere(join(folder, 'commondir')) || (isThere(join(folder, 'objects')) && isThere(join(folder, 'refs')))
  )
}

function commonDirOf(gitDir: string): string {
  const file = join(gitDir, 'commondir')
  if (!statSync(file, { throwIfNoEntry: false })) return gitDir
  const named = (readSmall(file) ?? '').trim()
  const common = resolve(gitDir, named)
  if (isGitDir(common)) return realPath(common)
  throw errors.repositoryBroken(file, `it names ${common}, which is not a git folder`, 'git worktree repair')
}

/** An argument as a person can paste it into a shell. */
export function quoteArgument(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
