import { at, kernel32 } from './kernel32.ts'

/**
 * A Job Object: a set of processes that whatever they start belongs to as well, and that nobody leaves. It ends with all
 * of them when its last handle is closed, which the system does for a process that dies.
 */
export interface Job {
  /** False when the process has ended, or may not be taken in. */
  add(pid: number): boolean
  /** Who is in it now. */
  members(): number[]
  /** Ends every member at once. */
  terminate(): void
  /** Lets go of it: the members that are left end too. */
  close(): void
}

/** Makes a job; null where the system refuses one. */
export function openJob(): Job | null {
  const calls = kernel32()
  const handle = calls.CreateJobObjectW(null, null)
  if (handle === 0n) return null
  // JOBOBJECT_EXTENDED_LIMIT_INFORMATION, all zero but for LimitFlags.
  const limits = new Uint8Array(144)
  new DataView(limits.buffer).setUint32(16, killOnClose, true)
  if (calls.SetInformationJobObject(handle, extendedLimits, at(limits), limits.length) === 0) {
    calls.CloseHandle(handle)
    return null
  }
  let open = true
  return {
    add: (pid) => addTo(handle, pid),
    members: () => (open ? membersOf(handle) : []),
    terminate: () => void (open && calls.TerminateJobObject(handle, endedByUs)),
    close() {
      if (open) calls.CloseHandle(handle)
      open = false
    },
  }
}

/**
 * The job of this process itself, made when it is first asked for: what a program starts before its own job has it is
 * in here. It is never closed, so that it ends with this process, however that ends. Null where there can be none.
 */
export function ownJob(): Job | null {
  if (own === undefined) {
    own = openJob()
    if (own && !own.add(process.pid)) own = null
  }
  return own
}

let own: Job | null | undefined

const killOnClose = 0x2000
const extendedLimits = 9
const processList = 3
const terminateAndSetQuota = 0x0001 | 0x0100
/** The exit code of what is ended here. */
const endedByUs = 1

function addTo(handle: bigint, pid: number): boolean {
  const calls = kernel32()
  if (pid === process.pid) return calls.AssignProcessToJobObject(handle, calls.GetCurrentProcess()) !== 0
  const member = calls.OpenProcess(terminateAndSetQuota, 0, pid)
  if (member === 0n) return false
  const added = calls.AssignProcessToJobObject(handle, member) !== 0
  calls.CloseHandle(member)
  return added
}

/** JOBOBJECT_BASIC_PROCESS_ID_LIST: how many there are, how many are listed, and their numbers. */
function membersOf(handle: bigint): number[] {
  for (let room = 64; ; room *= 4) {
    const list = new Uint8Array(8 + 8 * room)
    const done = kernel32().QueryInformationJobObject(handle, processList, at(list), list.length, null)
    const view = new DataView(list.buffer)
    const [all, listed] = [view.getUint32(0, true), view.getUint32(4, true)]
    if ((done !== 0 && listed >= all) || room > 65_536)
      return Array.from({ length: listed }, (_, n) => Number(view.getBigUint64(8 + 8 * n, true)))
  }
}
