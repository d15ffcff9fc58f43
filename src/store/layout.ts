import { lstatSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { errors } from '../errors.ts'
import { isWindows } from '../system/platform.ts'
import { realPath } from '../system/real-path.ts'

/** A project's folders. Paths are absolute and free of links down to `root`. */
export interface Project {
  root: string
  /** The HOME folder of automaton; it need not exist. */
  home: string
  /** True when the project is HOME itself. */
  isHome: boolean
  automaton: string
  loops: string
  tasks: string
  cache: string
}

/** One loop's files. */
export interface LoopPlaces {
  name: string
  dir: string
  config: string
  state: string
  log: string
  lock: string
  run: string
  outputs: string
  scheduledLog: string
  worktree: string
  script: string
  /** What `pause-loop` leaves while a tick holds the lock. */
  pauseRequest: string
  /** There while a `sync` has begun and has not put the worktree back yet; it holds the time of the sync's record. */
  syncBegun: string
}

/** One task's files. */
export interface TaskPlaces {
  name: string
  dir: string
  state: string
  brief: string
}

/** The HOME folder: `AUTOMATON_HOME`, else `.automaton` in the user's home. Throws `bad_value` for a relative path. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>, userHome: string): string {
  const named = env.AUTOMATON_HOME
  if (!named) return join(userHome, '.automaton')
  if (isAbsolute(named)) return resolve(named)
  const why = 'it is a relative path, which would mean another folder in every folder'
  throw errors.badValue('bad AUTOMATON_HOME', named, why, 'set AUTOMATON_HOME to an absolute path')
}

/**
 * The project of a call (contract, section 1). It only looks at names on the disk and never runs git, so nothing
 * that lies in a hostile folder can act. Throws `no_project`, or `usage` for a `--project` that cannot be one.
 */
export function findProject(o: { cwd: string; home: string; flag?: string | undefined }): Project {
  const home = real(o.home)
  if (o.flag !== undefined) return projectAt(flagged(o.cwd, o.flag), home)
  const cwd = real(o.cwd)
  const root = outsideWorktree(cwd, home) ?? nearest(cwd, home)
  if (root === null) throw errors.noProject(cwd)
  return projectAt(root, home)
}

/** The name, if it may name a loop, task or plugin; else throws `bad_name`. */
export function checkName(kind: 'loop' | 'task' | 'plugin', name: string): string {
  if (!isName(name)) throw errors.badName(kind, name)
  return name
}

/** True for 1 to 63 of a-z, 0-9 and -, started by a letter or digit, that Windows does not keep for a device. */
export function isName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,62}$/.test(name) && !/^(con|prn|aux|nul|com\d|lpt\d)$/.test(name)
}

/** Where a loop's files are. Throws `bad_name`. */
export function loopPlaces(project: Project, name: string): LoopPlaces {
  return placesIn(join(project.loops, checkName('loop', name)), name)
}

/** The same for a loop folder that is not at its place yet. */
export function placesIn(dir: string, name: string): LoopPlaces {
  return {
    name,
    dir,
    config: join(dir, 'loop.json'),
    state: join(dir, '.state.loop'),
    log: join(dir, '.state.log'),
    lock: join(dir, '.state.lock'),
    run: join(dir, 'run.json'),
    outputs: join(dir, 'outputs'),
    scheduledLog: join(dir, 'scheduled.log'),
    worktree: join(dir, 'worktree'),
    script: join(dir, isWindows ? 'automaton-loop-tick.cmd' : 'automaton-loop-tick.sh'),
    pauseRequest: join(dir, '.pause-request'),
    syncBegun: join(dir, '.sync-begun'),
  }
}

/** Where a task's files are. Throws `bad_name`. */
export function taskPlaces(project: Project, name: string): TaskPlaces {
  const dir = join(project.tasks, checkName('task', name))
  return { name, dir, state: join(dir, '.state'), brief: join(dir, 'TASK.md') }
}

function projectAt(root: string, home: string): Project {
  const automaton = join(root, '.automaton')
  if (real(automaton) === home) {
    const why = 'its .automaton folder is the HOME of automaton'
    throw errors.usage(`not a project (${root})`, why, 'run in a repository below it, or move AUTOMATON_HOME')
  }
  const isHome = root === home
  return {
    root,
    home,
    isHome,
    automaton,
    loops: join(automaton, 'loops'),
    tasks: join(isHome ? root : automaton, 'tasks'),
    cache: join(automaton, 'cache'),
  }
}

function flagged(cwd: string, flag: string): string {
  const root = resolve(cwd, flag)
  if (flag === '' || !statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw errors.usage(
      `bad option (--project ${flag})`,
      'there is no such folder',
      'name the folder of your repository',
    )
  }
  return real(root)
}

/**
 * The project whose loop's worktree holds the folder. The outermost one counts: what looks like a loop folder
 * inside a worktree was put there by a session.
 */
function outsideWorktree(cwd: string, home: string): string | null {
  const parts = cwd.split(sep)
  for (let i = 1; i + 3 < parts.length; i++) {
    const [automaton, loops, loop = '', worktree] = parts.slice(i, i + 4)
    if (automaton !== '.automaton' || loops !== 'loops' || worktree !== 'worktree' || !isName(loop)) continue
    const root = rootOf(parts.slice(0, i))
    if (real(join(root, '.automaton')) !== home) return root
  }
  return null
}

/** A folder from its names. At the top stands nothing, or a drive, which without its slash would mean another folder. */
function rootOf(parts: string[]): string {
  return parts.length > 1 ? parts.join(sep) : `${parts[0] ?? ''}${sep}`
}

/** The nearest folder that is HOME, has `.automaton` or is a repository's toplevel; null when there is none. */
function nearest(cwd: string, home: string): string | null {
  for (let dir = cwd; ; dir = dirname(dir)) {
    const mark = join(dir, '.automaton')
    if (dir === home || (isFolder(mark) && real(mark) !== home)) return dir
    if (lstatSync(join(dir, '.git'), { throwIfNoEntry: false })) return dir
    if (dirname(dir) === dir) return null
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** The path without links; as it is when it does not exist. */
function real(path: string): string {
  try {
    return realPath(path)
  } catch {
    return resolve(path)
  }
}
