import type { ProcessRow } from '../process-table.ts'
import { at, invalidHandle, kernel32 } from './kernel32.ts'

/** Every process. A parent that is younger than its child is another one that got its number later: it shows as 0. */
export function windowsTable(): ProcessRow[] {
  const rows = snapshot().map(([pid, parent]) => rowOf(pid, parent))
  const starts = new Map(rows.map((row) => [row.pid, row.start]))
  return rows.map((row) => (isParent(starts.get(row.parent), row) ? row : { ...row, parent: 0 }))
}

/** One process with its parent, or null when there is none of this number. */
export function windowsRow(pid: number): ProcessRow | null {
  const times = timesOf(pid)
  if (!times) return null
  const parent = snapshot().find(([one]) => one === pid)?.[1] ?? 0
  const row = { ...rowOf(pid, parent), start: times.start, zombie: times.ended }
  return isParent(timesOf(parent)?.start, row) ? row : { ...row, parent: 0 }
}

/** When a process started, or null when there is none that may be looked at: 100 ns steps since 1601, as digits. */
export function startOf(pid: number): string | null {
  const times = timesOf(pid)
  return times && !times.ended ? times.start : null
}

/** Ends exactly this process: one that only has its number is spared. */
export function endProcess(row: Pick<ProcessRow, 'pid' | 'start'>): void {
  const calls = kernel32()
  const handle = calls.OpenProcess(terminate | look, 0, row.pid)
  if (handle === 0n) return
  // The handle keeps the number from being given away between the look and the end.
  if (readTimes(handle)?.start === row.start) calls.TerminateProcess(handle, 1)
  calls.CloseHandle(handle)
}

/** Whether a process started no later than another. Also true when one keeps its start to itself, as the system's own do. */
export function isOlder(first: string, second: string): boolean {
  return first === 'unknown' || second === 'unknown' || BigInt(first) <= BigInt(second)
}

const terminate = 0x0001
/** PROCESS_QUERY_LIMITED_INFORMATION and SYNCHRONIZE: what other people's programs may see too. */
const look = 0x1000 | 0x0010_0000
const signalled = 0
const processesOnly = 2
/** PROCESSENTRY32W on 64-bit systems: its size, and where its number and its parent's are. */
const entrySize = 568
const pidAt = 8
const parentAt = 32

/** Pairs of a process's number and its parent's. */
function snapshot(): [pid: number, parent: number][] {
  const calls = kernel32()
  const handle = calls.CreateToolhelp32Snapshot(processesOnly, 0)
  if (handle === invalidHandle) return []
  const found: [number, number][] = []
  const entry = new Uint8Array(entrySize)
  const view = new DataView(entry.buffer)
  view.setUint32(0, entrySize, true)
  for (
    let more = calls.Process32FirstW(handle, at(entry));
    more !== 0;
    more = calls.Process32NextW(handle, at(entry))
  )
    found.push([view.getUint32(pidAt, true), view.getUint32(parentAt, true)])
  calls.CloseHandle(handle)
  return found
}

/** Without groups and sessions, which Windows has others of: a process leads its own. */
function rowOf(pid: number, parent: number): ProcessRow {
  const times = timesOf(pid)
  const start = times?.start ?? 'unknown'
  return { pid, parent, group: pid, session: pid, start, zombie: times?.ended ?? false }
}

function isParent(start: string | undefined, row: ProcessRow): boolean {
  return start !== undefined && isOlder(start, row.start)
}

interface Times {
  start: string
  /** It has ended, and somebody still holds a handle of it. */
  ended: boolean
}

function timesOf(pid: number): Times | null {
  if (pid === 0) return null
  const handle = kernel32().OpenProcess(look, 0, pid)
  if (handle === 0n) return null
  const times = readTimes(handle)
  kernel32().CloseHandle(handle)
  return times
}

function readTimes(handle: bigint): Times | null {
  const calls = kernel32()
  const times = new BigUint64Array(4)
  const [created, ended, system, user] = [at(times), at(times, 8), at(times, 16), at(times, 24)]
  if (calls.GetProcessTimes(handle, created, ended, system, user) === 0) return null
  // The time of the end means something only when there was one.
  return { start: String(times[0]), ended: calls.WaitForSingleObject(handle, 0) === signalled }
}
