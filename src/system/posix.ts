import { dlopen, ptr } from 'bun:ffi'
import { closeSync, readFileSync } from 'node:fs'

/** Both ends of a pipe, as file descriptors that no program inherits by itself. */
export interface Pipe {
  /** Does not block. */
  read: number
  write: number
}

/**
 * A real pipe (Linux), or null. `Bun.spawn` by itself hands a program sockets, and then a script's
 * `echo … > /dev/stderr` fails with "No such device or address". It holds 1 MiB where the system allows: a program
 * that quits with unwritten text, as Node does in `process.exit`, loses what did not fit.
 */
export function openPipe(): Pipe | null {
  if (process.platform !== 'linux') return null
  const ends = new Int32Array(2)
  if (linux().pipe2(ptr(ends), closeOnExec) !== 0) return null
  const [read = -1, write = -1] = ends
  linux().fcntl(write, setPipeSize, pipeSize)
  // Set on this end alone: a program that finds its standard output non-blocking loses text.
  if (linux().fcntl(read, setFlags, nonBlocking) === 0) return { read, write }
  closeSync(read)
  closeSync(write)
  return null
}

/** Takes a dead child that the runtime did not start (an adopted orphan) out of the process table. False when it is not dead. */
export function reap(pid: number): boolean {
  return process.platform === 'linux' && linux().waitpid(pid, null, doNotWait) === pid
}

/** The session that a process (0: this one) is in; -1 when there is no such process, or no such call (not Linux). */
export function getsid(pid: number): number {
  return process.platform === 'linux' ? linux().getsid(pid) : -1
}

const closeOnExec = 0o2000000
const nonBlocking = 0o4000
const setFlags = 4
const setPipeSize = 1031
/** The most that an ordinary user may ask for (/proc/sys/fs/pipe-max-size), in bytes. */
const pipeSize = 1024 * 1024
const doNotWait = 1

type Calls = ReturnType<typeof load>

let loaded: Calls | undefined

function linux(): Calls {
  loaded ??= load()
  return loaded
}

function load() {
  return dlopen(libc(), {
    pipe2: { args: ['ptr', 'i32'], returns: 'i32' },
    fcntl: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    getsid: { args: ['i32'], returns: 'i32' },
    waitpid: { args: ['i32', 'ptr', 'i32'], returns: 'i32' },
  } as const).symbols
}

/** The C library that this process runs on, by its absolute path: a bare name could be found in a hostile folder. */
function libc(): string {
  const maps = readFileSync('/proc/self/maps', 'utf8')
  const path = maps.match(/\s(\/\S*\/(?:libc\.so\.6|libc-[\d.]+\.so|(?:ld|libc)[-.]musl-\w+\.so\.1))$/m)?.[1]
  if (path === undefined) throw new Error('no C library in /proc/self/maps')
  return path
}
