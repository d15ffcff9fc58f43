import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readNames } from './checkout.ts'
import { gitSetting } from './git-config.ts'
import type { Repository } from './repository.ts'
import { readLine, readSmall } from './small-file.ts'

/** How long the HEAD log of each checkout is that has a branch checked out, in bytes; 0 where none is kept. */
export type HeadLogs = Record<string, number>

/**
 * Looks which checkouts have a branch checked out, the loop's own (by its git folder) left out. No git is asked: HEAD of
 * a repository whose refs are in another format than files names no branch here, and then nothing is concluded.
 */
export function headLogs({
  repo,
  own,
  ref,
}: {
  repo: Repository
  own: string | null
  ref: string
}): HeadLogs {
  const config = join(repo.commonDir, 'config')
  const linked = readNames(join(repo.commonDir, 'worktrees')).map((name) => `worktrees/${name}`)
  // A bare repository has a HEAD, and nobody works there.
  const main = gitSetting(config, 'core', 'bare') === 'true' ? [] : ['.']
  // A push into a checked-out branch is written into the log of the main checkout alone.
  const all = gitSetting(config, 'receive', 'denyCurrentBranch') === null ? [...main, ...linked] : main
  const found: HeadLogs = {}
  for (const name of all) {
    const dir = join(repo.commonDir, name)
    if (dir === own || readLine(join(dir, 'HEAD')) !== `ref: ${ref}`) continue
    found[name] = lengthOf(logOf(repo, name))
  }
  return found
}

/**
 * Whether a branch went to a commit past all checkouts that had it checked out at both looks. Whatever people do there
 * (commit, merge, pull, rebase, reset, even a push into it) git writes into that checkout's HEAD log; not so what another
 * worktree does to the branch. A checkout that came meanwhile explains nothing: git makes none of a branch that another one
 * has, unless it is forced to.
 */
export function isPastLogs(
  before: HeadLogs,
  after: HeadLogs,
  { repo, commit }: { repo: Repository; commit: string },
): boolean {
  const stayed = Object.keys(after).filter((name) => before[name] !== undefined)
  if (stayed.length === 0 || stayed.some((name) => before[name] === 0)) return false
  return !stayed.some((name) => reaches(logOf(repo, name), before[name] ?? 0, commit))
}

/** Lines that came after the first look, since more may have come after the second; a log that was shortened: its last. */
function reaches(file: string, known: number, commit: string): boolean {
  const log = Buffer.from(readSmall(file) ?? '')
  const isGrown = log.length > known
  if (log.length === known) return false
  const lines = log
    .subarray(isGrown ? known : 0)
    .toString('latin1')
    .trimEnd()
    .split('\n')
  return (isGrown ? lines : lines.slice(-1)).some((line) => line.split(' ')[1] === commit)
}

function logOf(repo: Repository, checkout: string): string {
  return join(repo.commonDir, checkout, 'logs', 'HEAD')
}

function lengthOf(file: string): number {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    return 0
  }
}
