import { join } from 'node:path'
import { AutomatonError } from '../errors.ts'
import { type HeadLogs, headLogs, isPastLogs } from './base-log.ts'
import { checkoutDir, headOf, readNames } from './checkout.ts'
import { dangerousSettings } from './dangerous-settings.ts'
import { changedKeys, fingerprint } from './fingerprint.ts'
import { gitText, together } from './git.ts'
import { openRoot } from './open-up.ts'
import { type Repository, repositoryPlace } from './repository.ts'
import { type SessionCommits, sessionCommits } from './session-commits.ts'
import { isHistoryCut, shallowCuts } from './shallow.ts'
import { changedSideFolders, readSideFolders, type SideFolders } from './side-folders.ts'
import { readSmall } from './small-file.ts'

/** What {@link recordRepository} saw; plain JSON, so that a tick that died can be compared as well. */
export interface RepositoryRecord {
  head: { branch: string | null; commit: string | null }
  /** Refs that no session has to do with, and their ids. Null: git could not read them. */
  refs: Record<string, string> | null
  /** Hashes of settings that can run or redirect something, by name. Null: the files could not be read. */
  settings: Record<string, string> | null
  /** Hashes of files that steer git, by name below the git folder. */
  files: Record<string, string>
  /** Lines of the worktree's HEAD log. */
  logLines: number
  /** The HEAD logs of checkouts, not the loop's own, that have the base branch checked out. */
  baseLogs: HeadLogs
  /** Where a shallow clone's history ends. */
  shallow: string
  /** What steers git in submodules and other worktrees. Null: the files could not be read. */
  sides: SideFolders | null
}

/** What to watch. */
export interface WatchOptions {
  repo: Repository
  /** The loop's worktree; null when sessions work in the person's own checkout. */
  worktree: string | null
  /** The loop's branch, without `refs/heads/`. */
  branch: string
  baseBranch: string
  /** The loop branch's last verified commit; null when there is none. */
  verified?: string | null
  /**
   * Other loops of the project that ticked, or that a person put back or synchronised, since the first look: their
   * branches and kept refs may have moved.
   */
  busyLoops?: readonly string[]
}

/** Writes down what a session must leave alone in a repository: refs, HEAD, hooks, and settings that can run something. */
export async function recordRepository(options: WatchOptions): Promise<RepositoryRecord> {
  const { repo, worktree } = options
  // A session that shuts its worktree would keep everybody from looking at it.
  if (worktree !== null) openRoot(worktree)
  const admin = worktree === null ? null : checkoutDir(repo, worktree)
  const own = worktree === null ? repo.gitDir : admin
  const [refs, settings, sides] = await together([
    orNull(() => readRefs(options)),
    orNull(() => dangerousSettings(repo, admin)),
    orNull(() => readSideFolders(repo, [repo.gitDir, admin])),
  ])
  const { branch, commit } = worktree === null ? { branch: null, commit: null } : headOf(repo, worktree)
  return {
    head: { branch, commit },
    refs,
    settings,
    files: readFiles(repo, worktree, admin),
    logLines: admin ? headLog(admin).length : 0,
    baseLogs: headLogs({ repo, own, ref: baseRef(options.baseBranch) }),
    shallow: shallowCuts(repo),
    sides,
  }
}

/**
 * What changed between two records that must not, as names such as `head`, `refs/replace`, `base-branch`,
 * `config:core.hookspath` or `hooks/pre-commit`: sorted, each once. What people do meanwhile (commits, branches, tags,
 * their name) is none of it.
 */
export async function compareRepository(
  before: RepositoryRecord,
  after: RepositoryRecord,
  options: WatchOptions,
): Promise<string[]> {
  const found = [
    ...changedKeys(before.files, after.files),
    ...changedSettings(before, after),
    ...(await changedShallow(before, after, options)),
    ...(await changedHistory(before, after, options)),
  ]
  return [...new Set(found)].sort()
}

/** The lines of a worktree's HEAD log. */
export function headLog(admin: string): string[] {
  return (readSmall(join(admin, 'logs', 'HEAD')) ?? '').split('\n').slice(0, -1)
}

async function readRefs({ repo, branch, baseBranch }: WatchOptions): Promise<Record<string, string>> {
  const patterns = [
    'refs/replace',
    'refs/automaton',
    'refs/heads/automaton',
    baseRef(baseBranch),
    `refs/heads/${branch}`,
  ]
  const output = await gitText(repositoryPlace(repo), [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    ...patterns,
  ])
  const lines = output.split('\n').filter(Boolean)
  return Object.fromEntries(
    lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]),
  )
}

function readFiles(repo: Repository, worktree: string | null, admin: string | null): Record<string, string> {
  const shared = ['info/attributes', 'info/exclude', 'info/grafts', 'objects/info/alternates', 'commondir']
  const hooks = readNames(join(repo.commonDir, 'hooks')).map((name) => `hooks/${name}`)
  const all = [...shared, ...hooks].map((name) => [name, fingerprint(join(repo.commonDir, name))])
  if (worktree !== null) all.push(['gitfile', fingerprint(join(worktree, '.git'))], ['worktree', admin ?? ''])
  if (admin)
    for (const name of ['gitdir', 'commondir']) all.push([`worktree/${name}`, fingerprint(join(admin, name))])
  return Object.fromEntries(all.filter(([, value]) => value !== ''))
}

function changedSettings(before: RepositoryRecord, after: RepositoryRecord): string[] {
  const settings =
    before.settings && after.settings
      ? changedKeys(before.settings, after.settings).map((key) => `config:${key}`)
      : changedNull('config', before.settings, after.settings)
  const sides =
    before.sides && after.sides
      ? changedSideFolders(before.sides, after.sides)
      : changedNull('modules', before.sides, after.sides)
  return [...settings, ...sides]
}

/** A finding where one of two records could not be read. */
function changedNull(name: string, before: object | null, after: object | null): string[] {
  return before === after ? [] : [name]
}

async function changedShallow(
  before: RepositoryRecord,
  after: RepositoryRecord,
  { repo }: WatchOptions,
): Promise<string[]> {
  // What git does not read of the cuts is a finding of its own.
  const isCut = await orNull(() => isHistoryCut(before.shallow, after.shallow, repo))
  return isCut === false ? [] : ['shallow']
}

async function changedHistory(
  before: RepositoryRecord,
  after: RepositoryRecord,
  o: WatchOptions,
): Promise<string[]> {
  if (before.refs === null || after.refs === null) return before.refs === after.refs ? [] : ['refs']
  const [was, is] = [before.refs, after.refs]
  const tip = is[`refs/heads/${o.branch}`]
  const verified = (o.worktree !== null && o.verified) || before.head.commit
  await using commits = await sessionCommits({
    repo: o.repo,
    heads: o.worktree === null ? [] : [after.head.commit, tip].filter((id) => typeof id === 'string'),
    verified,
    log: logSince(before, o),
  })
  const found: string[] = []
  if (o.worktree !== null) {
    if (after.head.branch !== o.branch) found.push('head')
    if (!tip || (verified && !(await commits.descends(tip, verified)))) found.push('branch')
  }
  for (const ref of changedKeys(was, is))
    found.push(...(await finding({ ref, was: was[ref], is: is[ref] }, o, commits)))
  const base = baseRef(o.baseBranch)
  const commit = is[base]
  if (commit && was[base] !== commit && isPastLogs(before.baseLogs, after.baseLogs, { repo: o.repo, commit }))
    found.push('base-branch')
  return found
}

interface Move {
  ref: string
  was: string | undefined
  is: string | undefined
}

async function finding({ ref, was, is }: Move, o: WatchOptions, commits: SessionCommits): Promise<string[]> {
  if (ref.startsWith('refs/replace/')) return ['refs/replace']
  if (ref === `refs/heads/${o.branch}`) return []
  const took = is !== undefined && (await commits.took(is, was))
  if (ref === baseRef(o.baseBranch)) return took || !is ? ['base-branch'] : []
  if (took) return [ref]
  const busy = o.busyLoops ?? []
  const loop = /^refs\/(?:heads\/automaton|automaton\/kept)\/([^/]+)/.exec(ref)?.[1]
  // What a dead tick leaves is kept under the tick's name, which says nothing of its loop.
  return (loop === undefined ? busy.length > 0 : busy.includes(loop)) ? [] : [ref]
}

/** Ids that the worktree's HEAD went to by a commit, as far as its log still says. */
function logSince(before: RepositoryRecord, { repo, worktree }: WatchOptions): string[] {
  const admin = worktree === null ? null : checkoutDir(repo, worktree)
  const lines = admin ? headLog(admin).slice(before.logLines) : []
  const made = lines.filter((line) => /\t(?:commit|cherry-pick|revert|am)\b/.test(line))
  return made.map((line) => line.split(' ')[1] ?? '').filter((id) => /^[0-9a-f]{40,64}$/.test(id))
}

function baseRef(branch: string): string {
  return branch.startsWith('refs/') ? branch : `refs/heads/${branch}`
}

/**
 * A session can make git refuse to work; that is a finding, not an error of ours. Asked twice: what a session did stays,
 * and a fault of the machine that passes is no reason to halt a loop.
 */
async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  for (let left = 1; ; left--) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof AutomatonError) || error.code !== 'git_failed') throw error
      if (left === 0) return null
    }
  }
}
