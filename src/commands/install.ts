import { lstatSync, readdirSync, rmdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { codeOf, ensureFolder, writeAtomic } from '../store/atomic.ts'
import { acquire, type Lock } from '../store/lock.ts'
import { sharedFileSystem } from '../system/disk.ts'
import { requireGit } from '../system/git.ts'
import { isWindows } from '../system/platform.ts'
import { realPath } from '../system/real-path.ts'
import { absoluteUrl, type Reach } from '../system/remote.ts'
import { removeTree } from '../system/remove.ts'
import { quoteArgument } from '../system/repository.ts'
import { cloneHome, finishClone, type HomeReport, isCloned, stageName, updateHome } from './install-home.ts'
import { type LoopInstall, provideLoop } from './install-loop.ts'
import { installProgram, type ProgramReport } from './install-program.ts'

/** What an installation did. */
export interface InstallReport {
  home: string
  repository: HomeReport
  program: ProgramReport
  loop: LoopInstall
  /** What did not work, and what to do about it; the rest stands. */
  warnings: string[]
  /** What to type next, in order. */
  next: string[]
}

/**
 * Installs automaton, or updates it: the person's repository in HOME, this program in `HOME/bin`, and the loop
 * `self-improvement`. Each step is whole or not at all, so that a call that was cut short is ended by the next one.
 * Throws `no_git_url`, `home_taken`, `clone_failed`, `home_changed` and `home_diverged` before the program is touched.
 */
export async function install(app: App, o: { url: string | null }): Promise<InstallReport> {
  requireProgram(app)
  requireGit()
  const home = realHome(app.home)
  const url = o.url ? absoluteUrl(o.url, app.cwd) : null
  const exists = lstatSync(join(home, '.git'), { throwIfNoEntry: false }) !== undefined
  if (!exists) checkFree(home)
  if (!exists && url === null && !isCloned(home)) throw errors.noGitUrl()
  const made = lstatSync(home, { throwIfNoEntry: false }) === undefined
  const stage = join(home, stageName)
  ensureFolder(stage)
  // Nobody takes what lies there for a part of the repository.
  writeAtomic(join(stage, '.gitignore'), '*\n')
  const lock = await acquire(join(stage, 'lock'), { waitMs: 0, folder: false })
  if (lock.busy) throw errors.busy('install', lock.holder)
  using _held = lock
  try {
    const reach = { env: app.env, interactive: app.terminal.interactive, signal: app.signal }
    const repository = await bringRepository(app, { home, url, exists, reach })
    const program = installProgram({ home, self: app.self[0] ?? '', version: app.version })
    app.signal.throwIfAborted()
    const { warnings, ...loop } = await provideLoop(app, { home, program: program.file })
    clear(stage, lock)
    return {
      ...{ home, repository, program, loop, warnings: [...diskWarnings(home), ...warnings] },
      next: nextSteps(app, { home, repository }),
    }
  } catch (error) {
    // A clone that is whole is kept: the next call goes on from there.
    if (!isCloned(home)) clear(stage, lock)
    if (made) removeIfEmpty(home)
    throw error
  }
}

/** Removes the stage while nobody else can use it; on Windows its lock file can only go once it is free. */
function clear(stage: string, lock: Lock): void {
  if (!isWindows) {
    removeTree(stage)
    return
  }
  const isLock = (name: string) => name === 'lock' || name === 'lock.holder'
  for (const name of readdirSync(stage)) {
    if (!isLock(name)) removeTree(join(stage, name))
  }
  lock.release()
  try {
    removeTree(stage)
  } catch {
    // The next installer has it already, and will clear it away.
  }
}

/** Only the built program can be copied. */
function requireProgram({ self }: App): void {
  if (self.length === 1) return
  throw errors.usage('cannot install (automaton from source)', 'there is no program to copy', 'npm run build')
}

async function bringRepository(
  app: App,
  o: { home: string; url: string | null; exists: boolean; reach: Reach },
): Promise<HomeReport> {
  if (o.exists) return updateHome({ home: o.home, url: o.url, reach: o.reach })
  if (isCloned(o.home)) return finishClone(o.home)
  if (o.url === null) throw errors.noGitUrl()
  return cloneHome({ home: o.home, url: o.url, at: app.clock.iso(), reach: o.reach })
}

/** What a HOME may hold before it is a repository: what people and commands put there (contract, section 1). */
const homeNames: ReadonlySet<string> = new Set([
  ...['.automaton', 'bin', 'config.md', 'design', 'models.json', 'plugins', 'prompts', 'tasks', 'templates'],
  ...[stageName, 'lost+found'],
])

/** A folder that holds anything else is no HOME: somebody mistyped its name. */
function checkFree(home: string): void {
  const stat = lstatSync(home, { throwIfNoEntry: false })
  if (!stat) return
  if (!stat.isDirectory()) throw errors.homeTaken(home, 'it is no folder')
  const [foreign] = readdirSync(home).filter((name) => !homeNames.has(name))
  if (foreign !== undefined && !isCloned(home)) throw errors.homeTaken(home, `it holds ${foreign}`)
}

/** A loop's lock and its writes rest on what a disk of this machine does. */
function diskWarnings(home: string): string[] {
  const kind = sharedFileSystem(home)
  if (kind === null) return []
  return [`${home} lies on a shared file system (${kind}), where two ticks may not see each other's lock`]
}

/** For the shell that the person has just called the installer from. */
function nextSteps(app: App, { home, repository }: Pick<InstallReport, 'home' | 'repository'>): string[] {
  const bin = join(home, 'bin')
  const onPath = (app.env.PATH ?? '').split(delimiter).some((folder) => folder === bin)
  const isDefault = app.home === join(homedir(), '.automaton')
  const setHome = isWindows
    ? `$env:AUTOMATON_HOME = '${home}'`
    : `export AUTOMATON_HOME=${quoteArgument(home)}`
  const setPath = isWindows
    ? `$env:Path = '${bin};' + $env:Path`
    : `export PATH=${quoteArgument(bin)}:"$PATH"`
  return [
    ...(repository.unpushed ? [`git -C ${quoteArgument(home)} push -u origin ${repository.branch}`] : []),
    ...(isDefault ? [] : [setHome]),
    ...(onPath ? [] : [setPath]),
    'cd YOUR-REPOSITORY',
    'automaton init',
  ]
}

function realHome(home: string): string {
  try {
    return realPath(home)
  } catch {
    return home
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) throw error
  }
}
