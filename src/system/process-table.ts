import { readdirSync, readFileSync } from 'node:fs'
import { windowsRow, windowsTable } from './windows/table.ts'

/** One line of the process table. */
export interface ProcessRow {
  pid: number
  parent: number
  group: number
  /** On macOS the group, which is the session's for programs that start their own; on Windows the process itself. */
  session: number
  /** When it started: clock ticks since boot on Linux, local text on macOS, 100 ns steps since 1601 on Windows. */
  start: string
  /** Dead, and not yet collected by its parent. */
  zombie: boolean
}

/** Every process. */
export function processTable(): ProcessRow[] {
  if (process.platform === 'linux') return linuxPids().flatMap((pid) => linuxRow(pid) ?? [])
  if (process.platform === 'win32') return windowsTable()
  return ps(['-A']).flatMap((line) => psRow(line) ?? [])
}

/** One process, or null when there is none of this id. */
export function processRow(pid: number): ProcessRow | null {
  if (process.platform === 'linux') return linuxRow(pid)
  if (process.platform === 'win32') return windowsRow(pid)
  return psRow(ps(['-p', String(pid)])[0] ?? '')
}

/** The processes whose environment holds exactly `entry`, which is `NAME=value`. */
export function holdersOf(entry: string): number[] {
  if (process.platform === 'linux') return linuxPids().filter((pid) => linuxHolds(pid, entry))
  if (process.platform === 'win32') return []
  const lines = run(['/bin/ps', '-A', '-E', '-ww', '-o', 'pid=,command='])
  return lines
    .filter((line) => ` ${line} `.includes(` ${entry} `))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid > 0)
}

/** The direct children of this process where the system can list them at once, else null. */
export function ownChildren(): number[] | null {
  try {
    return readdirSync('/proc/self/task').flatMap((thread) =>
      readFileSync(`/proc/self/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return null
  }
}

/** Which start of the machine this is; 'unknown' where the system does not say. */
export function bootId(): string {
  knownBoot ??= readBootId()
  return knownBoot
}

let knownBoot: string | undefined

function readBootId(): string {
  try {
    if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    // Start times are absolute there: one of them means the same process in every run of the machine.
    if (process.platform === 'win32') return 'any'
    if (process.platform === 'darwin')
      return run(['/usr/sbin/sysctl', '-n', 'kern.bootsessionuuid'])[0] ?? 'unknown'
  } catch {
    // A container may hide it; then no process is ever taken for the one recorded.
  }
  return 'unknown'
}

function linuxPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

function linuxRow(pid: number): ProcessRow | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The name may hold anything, a `)` and spaces included; what follows the last one is numbers.
  // rest[13] is the number of threads: a process whose first one has ended looks dead while others of it live.
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: rest[15] ?? 'unknown',
    zombie: (state === 'Z' && Number(rest[13]) <= 1) || state === 'X',
  }
}

function linuxHolds(pid: number, entry: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes(`\0${entry}\0`)
  } catch {
    return false
  }
}

function ps(which: string[]): string[] {
  return run(['/bin/ps', ...which, '-o', 'pid=,ppid=,pgid=,stat=,lstart='])
}

function psRow(line: string): ProcessRow | null {
  const [pid, parent, group, state, ...start] = line.trim().split(/\s+/)
  if (!state) return null
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: Number(group),
    start: start.join(' '),
    zombie: state.startsWith('Z'),
  }
}

function run(argv: string[]): string[] {
  // A start time is text: it must read the same whatever zone and language automaton was called with.
  const { stdout } = Bun.spawnSync(argv, { env: { LC_ALL: 'C', TZ: 'UTC' }, stderr: 'ignore' })
  return stdout.toString().split('\n').filter(Boolean)
}
