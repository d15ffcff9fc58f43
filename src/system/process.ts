import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { bootId, holdersOf, processRow } from './process-table.ts'
import { killTree } from './tree.ts'

/** A process that cannot be mistaken for another one which got its number later. */
export interface ProcessIdentity {
  pid: number
  /** When it started, as the system counts it; 'unknown' is never the same as another. */
  start: string
  /** The start of the machine in which the number means this process. */
  boot: string
}

/** Who has this number now; null when nobody. */
export function identify(pid: number): ProcessIdentity | null {
  const row = processRow(pid)
  return row && { pid, start: row.start, boot: bootId() }
}

/** True when exactly this process still runs: a zombie, a later process of its number, or one before a reboot does not. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.start === 'unknown' || identity.boot === 'unknown' || identity.boot !== bootId()) return false
  const row = processRow(identity.pid)
  return row !== null && !row.zombie && row.start === identity.start
}

/** The parent, its parent and so on, nearest first. */
export function ancestors(pid: number): number[] {
  const found: number[] = []
  let parent = processRow(pid)?.parent ?? 0
  // Numbers may change hands between two looks, and then a chain could run in a circle.
  while (parent > 0 && !found.includes(parent)) {
    found.push(parent)
    parent = processRow(parent)?.parent ?? 0
  }
  return found
}

/** A process as it was started; what runs below it cannot change that. */
export interface Forebear {
  pid: number
  argv: string[]
  /** `NAME=value`; empty where the system does not let this process see them. */
  environment: string[]
  /** Milliseconds since 1970. */
  startedAt: number
}

/** The process itself and those above it, nearest first; empty where the system does not tell (not Linux). */
export function lineage(pid: number): Forebear[] {
  if (process.platform !== 'linux') return []
  return [pid, ...ancestors(pid)].map((one) => ({
    pid: one,
    argv: readProc(`${one}/cmdline`).split('\0').filter(Boolean),
    environment: readProc(`${one}/environ`).split('\0').filter(Boolean),
    get startedAt() {
      const bootedAt = Date.now() - Number.parseFloat(readProc('uptime')) * 1000
      return bootedAt + (Number(processRow(one)?.start) / ticksPerSecond) * 1000
    },
  }))
}

/** The processes that carry this variable with this value. What another user runs is not seen. */
export function findByEnv(name: string, value: string): number[] {
  return holdersOf(`${name}=${value}`)
}

/** Who this process is. */
export function identifySelf(): ProcessIdentity {
  const self = identify(process.pid)
  if (self) return self
  throw new Error('this process has no identity')
}

/** What {@link endTree} ends. */
export interface TreeToEnd {
  /** The program that was started, the leader of its session. */
  pid: number
  /** Its process group. */
  group: number
  /** Its start time, when it was recorded: whoever has the number now is spared unless it is the same. */
  start?: string
  /** The boot id, when it was recorded: after a reboot the numbers mean nothing. */
  boot?: string
  /** `AUTOMATON_RUN_ID` of its session, or null. */
  runId: string | null
  /** Milliseconds between SIGTERM and SIGKILL. */
  graceMs: number
}

/**
 * Ends what is left of a program and everything it started, SIGTERM first. Never this process, its ancestors, or a
 * process that only got the program's number. Gives up on a process that cannot be killed.
 * Returns how many were ended.
 */
export async function endTree(tree: TreeToEnd): Promise<number> {
  const rebooted = tree.boot !== undefined && tree.boot !== bootId()
  const killed = await killTree({
    leader: rebooted ? null : { pid: tree.pid, group: tree.group, start: tree.start ?? null },
    runId: tree.runId,
    graceMs: tree.graceMs,
  })
  return killed.all
}

/**
 * The file that a program name means: an absolute path, or a name to look for in PATH. Only absolute folders of PATH
 * count, so that nothing in the working folder is ever taken for a program. Null when it is not an executable file;
 * a relative path with a slash belongs to some folder, so it is null too.
 */
export function which(program: string, path: string): string | null {
  return process.platform === 'win32' ? whichWindows(program, path) : whichPosix(program, path)
}

/** What Linux tells programs, whatever the kernel counts in. */
const ticksPerSecond = 100

/** Another user's processes, and those that keep themselves unreadable, show nothing. */
function readProc(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'utf8')
  } catch {
    return ''
  }
}

function whichPosix(program: string, path: string): string | null {
  if (program.includes('/')) return posix.isAbsolute(program) && isExecutable(program) ? program : null
  const folders = path.split(':').filter((folder) => posix.isAbsolute(folder))
  return (program && folders.map((folder) => posix.join(folder, program)).find(isExecutable)) || null
}

function whichWindows(program: string, path: string): string | null {
  const suffixes = (process.env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean)
  const complete = suffixes.some((suffix) => program.toUpperCase().endsWith(suffix.toUpperCase()))
  const names = complete ? [program] : suffixes.map((suffix) => program + suffix)
  if (/[\\/]/.test(program)) return (win32.isAbsolute(program) && names.find(isExecutable)) || null
  const folders = path.split(';').filter((folder) => win32.isAbsolute(folder))
  return folders.flatMap((folder) => names.map((name) => win32.join(folder, name))).find(isExecutable) ?? null
}

function isExecutable(file: string): boolean {
  try {
    // Most folders of PATH lack a program, and an exception for each would take longer than all else here.
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
