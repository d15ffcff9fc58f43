import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { type AutomatonError, errors } from '../errors.ts'
import { ownProgram } from './own-programs.ts'
import { refusePipes, waitsFor } from './pipes.ts'
import { isWindows } from './platform.ts'
import { quoteArgument, type Repository, repositoryPlace } from './repository.ts'

/** Which repository, working tree, index and object store a git call means. Git discovers none of them by itself. */
export interface GitPlace {
  gitDir: string
  /** Where the shared part lies when `gitDir` is a linked worktree's own folder. */
  commonDir?: string
  workTree?: string
  index?: string
  /** Where new objects go. */
  objects?: string
  /** More stores to read from. */
  alternates?: string[]
  /** True when what is written here is thrown away: it is then not synchronised with the disk. */
  temporary?: boolean
}

/** What a git call did; `code` is its exit status. */
export interface GitResult {
  code: number
  stdout: Buffer
  stderr: string
}

/** Details of one call. */
export interface GitOptions {
  stdin?: Uint8Array | string
  /** ISO-8601 time of a commit made by this call. */
  commitAt?: string
  /** Bytes of output that are read at most; default 256 MiB. */
  maxBytes?: number
  /** Output over the limit is cut instead of being an error. */
  cut?: boolean
  /** Default two minutes. */
  timeoutMs?: number
}

const defaultMaxBytes = 256 << 20
const defaultTimeoutMs = 120_000
/** After this long it is asked what a call may be waiting for. */
const slowMs = 5_000
/** Nothing is heard of a signal until such a call has ended, and none of them takes a second. */
const nowTimeoutMs = 20_000
const stderrLimit = 64 << 10

/** The oldest git that has every command used here (`merge-tree --write-tree`). */
export const oldestGit = '2.38'

/**
 * Runs git with a closed environment: no variable, configuration file, hook, monitor, helper, pager, editor or
 * transport of the user's or the repository's takes part. A non-zero status is a value here; see {@link gitBytes}.
 */
export async function git(where: GitPlace, args: string[], options: GitOptions = {}): Promise<GitResult> {
  const { argv, cwd, env } = prepare(where, args, options)
  const child = Bun.spawn(argv, {
    cwd,
    env,
    stdin: options.stdin === undefined ? 'ignore' : Buffer.from(options.stdin),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: options.timeoutMs ?? defaultTimeoutMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  })
  using slow = watchSlow(where, child)
  const limit = options.maxBytes ?? defaultMaxBytes
  const [out, err] = await Promise.all([
    readUpTo(child.stdout, limit, () => child.kill('SIGKILL')),
    readUpTo(child.stderr, stderrLimit),
  ])
  await child.exited
  if (slow.error && child.exitCode === null) throw slow.error
  const stderr = err.bytes.toString('utf8')
  if (out.over && options.cut) return { code: 0, stdout: out.bytes, stderr }
  if (out.over) throw errors.gitFailed(commandOf(args), `its output is over ${limit} bytes`)
  if (child.exitCode === null) {
    const limitMs = options.timeoutMs ?? defaultTimeoutMs
    throw errors.gitFailed(commandOf(args), noAnswer(String(child.signalCode), limitMs))
  }
  return { code: child.exitCode, stdout: out.bytes, stderr }
}

/** Runs git and returns its output; any status but 0 is an error. */
export async function gitBytes(where: GitPlace, args: string[], options: GitOptions = {}): Promise<Buffer> {
  const result = await git(where, args, options)
  if (result.code !== 0) throw failure(args, result)
  return result.stdout
}

/** Like {@link gitBytes}, as text without the last newline. */
export async function gitText(where: GitPlace, args: string[], options: GitOptions = {}): Promise<string> {
  return (await gitBytes(where, args, options)).toString('utf8').replace(/\n$/, '')
}

/** Runs several calls at once. Waits for all of them also when one fails: a folder that they share may go afterwards. */
export async function together<const T extends readonly unknown[]>(
  calls: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(calls)
  return Promise.all(calls)
}

/** One short reading call that cannot wait; null when git says no. */
export function gitNow(where: GitPlace, args: string[]): string | null {
  const { code, stdout } = runNow(where, args)
  return code === 0 ? stdout.toString('utf8').replace(/\n$/, '') : null
}

/** A short call that nothing else is done beside takes half as long this way. */
function runNow(where: GitPlace, args: string[]): GitResult {
  const { argv, cwd, env } = prepare(where, args, {})
  const run = Bun.spawnSync(argv, {
    cwd,
    env,
    stdin: 'ignore',
    timeout: nowTimeoutMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  })
  // An answer that did not come is none: it says neither yes nor no.
  if (run.signalCode)
    throw waitsFor(where) ?? errors.gitFailed(commandOf(args), noAnswer(String(run.signalCode), nowTimeoutMs))
  return { code: run.exitCode, stdout: run.stdout, stderr: run.stderr.toString('utf8') }
}

/**
 * The id of what a name means, or null when it means nothing. Give whole names (`refs/heads/main`), so that a tag of
 * the same name cannot stand in. `kind` 'tree' takes commits and trees and answers with the tree.
 */
export async function resolveCommit(
  repo: Repository,
  name: string,
  kind: 'commit' | 'tree' = 'commit',
): Promise<string | null> {
  const spec = name.endsWith(`^{${kind}}`) ? name : `${name}^{${kind}}`
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', spec]
  const result = runNow(repositoryPlace(repo), args)
  const id = result.stdout.toString('latin1').trim()
  if (result.code === 0 && /^[0-9a-f]{40,64}$/.test(id)) return id
  if (result.code === 1 || /bad revision|unknown revision|Needed a single revision/.test(result.stderr))
    return null
  throw failure(args, result)
}

/** The version of git, such as `2.39.5`. Throws when git is missing or older than {@link oldestGit}. */
export function requireGit(): string {
  const run = Bun.spawnSync([gitProgram(), '--version'], {
    cwd: '/',
    env: closedEnvironment(),
    stdin: 'ignore',
    timeout: nowTimeoutMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  })
  const found = /(\d+)\.(\d+)[.\d]*/.exec(run.stdout.toString())
  const text = found?.[0] ?? 'unknown'
  const [major = 0, minor = 0] = oldestGit.split('.').map(Number)
  const [, a = '0', b = '0'] = found ?? []
  if (Number(a) < major || (Number(a) === major && Number(b) < minor)) throw errors.gitTooOld(text, oldestGit)
  return text
}

/** The error for a call that failed: a lock that is in the way is named. */
export function failure(args: string[], result: GitResult) {
  const lock = /Unable to create '([^\n]+\.lock)': File exists/.exec(result.stderr)?.[1]
  if (lock) return errors.gitLocked(lock, `rm ${quoteArgument(lock)}`)
  const why = result.stderr.trim().slice(0, 1000) || `exit status ${result.code}`
  return errors.gitFailed(commandOf(args), why)
}

function prepare(where: GitPlace, args: string[], options: GitOptions) {
  const cwd = where.workTree ?? where.gitDir
  // A missing folder would be reported as a missing program.
  if (!existsSync(cwd)) throw errors.folderMissing(cwd, 'git has no place to run in')
  refusePipes(where)
  const env: Record<string, string> = {
    ...closedEnvironment(),
    GIT_DIR: where.gitDir,
    // Always set, or core.worktree of an untrusted configuration would choose it.
    GIT_WORK_TREE: cwd,
  }
  if (where.commonDir && where.commonDir !== where.gitDir) env.GIT_COMMON_DIR = where.commonDir
  if (where.index) env.GIT_INDEX_FILE = where.index
  if (where.objects) env.GIT_OBJECT_DIRECTORY = where.objects
  if (where.alternates?.length) {
    env.GIT_ALTERNATE_OBJECT_DIRECTORIES = where.alternates.map(quoteAlternate).join(delimiter)
  }
  if (options.commitAt) Object.assign(env, identity(options.commitAt))
  const fsync = where.temporary ? 'core.fsync=none' : 'core.fsync=committed,reference'
  const hooks = `core.hooksPath=${noFolder()}`
  return { argv: [gitProgram(), '--no-pager', ...closedConfig, '-c', hooks, '-c', fsync, ...args], cwd, env }
}

const closedConfig = [
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.sshCommand=false',
  // Ancestry is read from the commits themselves, not from a cache beside them.
  'core.commitGraph=false',
  'core.quotePath=true',
  'safe.bareRepository=explicit',
  'protocol.allow=never',
  'credential.helper=',
  'diff.ignoreSubmodules=none',
  'submodule.recurse=false',
  'branch.autoSetupMerge=false',
  'advice.graftFileDeprecated=false',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // Without it git stops at 260 characters of a path.
  ...(isWindows ? ['core.longPaths=true'] : []),
].flatMap((setting) => ['-c', setting])

function closedEnvironment(): Record<string, string> {
  const system = process.env.SystemRoot
  return {
    PATH: searchPath(),
    HOME: isWindows ? noFolder() : '/nonexistent',
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: noProgram(),
    SSH_ASKPASS: noProgram(),
    GIT_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_LITERAL_PATHSPECS: '1',
    ...(system ? { SystemRoot: system } : {}),
  }
}

/**
 * A place that holds no files, and that nobody can put any in. On Windows git opens `/dev/null` as the null device, but
 * takes what is below it for a folder at the drive's root, where any user may make one: git's own program is no folder.
 */
function noFolder(): string {
  return isWindows ? gitProgram() : '/dev/null'
}

function noProgram(): string {
  return isWindows ? join(gitProgram(), 'none') : '/bin/false'
}

/** Commits by automaton carry its own name, so that nobody takes them for a person's. */
function identity(at: string): Record<string, string> {
  const date = `${Math.floor(Date.parse(at) / 1000)} +0000`
  return {
    GIT_AUTHOR_NAME: 'Automaton',
    GIT_AUTHOR_EMAIL: 'automaton@localhost',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: 'Automaton',
    GIT_COMMITTER_EMAIL: 'automaton@localhost',
    GIT_COMMITTER_DATE: date,
  }
}

function gitProgram(): string {
  const program = ownProgram(isWindows ? 'git.exe' : 'git', searchPath())
  if (!program) throw errors.gitMissing()
  return program
}

function searchPath(): string {
  return (process.env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter)
}

/** The variable holds a list, so that a path with the separator or a quote in it must be written in C's way. */
function quoteAlternate(path: string): string {
  if (!/[":;\n\\]/.test(path) || isWindows) return path
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

function commandOf(args: string[]): string {
  return `git ${args.join(' ')}`.slice(0, 200)
}

/** Ends a call that waits for what never comes, and says what that is. */
function watchSlow(where: GitPlace, child: { kill(signal: 'SIGKILL'): void }) {
  const watch = { error: null as AutomatonError | null, [Symbol.dispose]: () => clearTimeout(timer) }
  const timer = setTimeout(() => {
    watch.error = waitsFor(where)
    if (watch.error) child.kill('SIGKILL')
  }, slowMs)
  return watch
}

function noAnswer(signal: string, limitMs: number): string {
  return `it was ended by ${signal}; at the latest that happens after ${limitMs / 1000} seconds`
}

async function readUpTo(stream: ReadableStream<Uint8Array>, limit: number, whenOver?: () => void) {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    if (size < limit) chunks.push(chunk.subarray(0, limit - size))
    const before = size
    size += chunk.byteLength
    if (before <= limit && size > limit) whenOver?.()
  }
  return { bytes: Buffer.concat(chunks), over: size > limit }
}
