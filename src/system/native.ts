import { dlopen, type Pointer, read } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import { isWindows } from './platform.ts'
import { ownJob } from './windows/job.ts'

/** Takes the advisory lock of an open file (Linux, macOS). False when another open file holds it; throws when the file system has no locks. */
export function flock(fd: number, exclusive: boolean, nonblocking: boolean): boolean {
  const { symbols, errno } = unix()
  const operation = (exclusive ? lockExclusive : lockShared) | (nonblocking ? lockNonblocking : 0)
  for (;;) {
    if (symbols.flock(fd, operation) === 0) return true
    const code = errno()
    if (code === interrupted) continue
    if (code === wouldBlock) return false
    throw new Error(`flock failed with error ${code}`)
  }
}

/** Gives the advisory lock of an open file back, for whoever cannot be sure that closing it does. */
export function unlock(fd: number): void {
  unix().symbols.flock(fd, lockRelease)
}

/**
 * Makes this process the parent of its orphaned descendants (Linux), or the owner of a job that all of them are in and
 * that ends with it (Windows). False where there is no such thing.
 */
export function subreaper(): boolean {
  if (isWindows) return ownJob() !== null
  return control(setChildSubreaper, 1n)
}

/** Keeps other processes of the same user from reading this one's memory and environment (Linux). False where there is no such thing. */
export function setUndumpable(): boolean {
  return control(setDumpable, 0n)
}

/** Has the system end this process when the one that started it ends (Linux). False where there is no such thing. */
export function dieWithParent(): boolean {
  return control(setParentDeathSignal, 9n)
}

const lockShared = 1
const lockExclusive = 2
const lockNonblocking = 4
const lockRelease = 8
const interrupted = 4
const wouldBlock = process.platform === 'linux' ? 11 : 35
const setParentDeathSignal = 1
const setDumpable = 4
const setChildSubreaper = 36

interface Unix {
  symbols: { flock(fd: number, operation: number): number }
  errno(): number
}

let loadedUnix: Unix | undefined

function unix(): Unix {
  loadedUnix ??= loadUnix()
  return loadedUnix
}

function loadUnix(): Unix {
  const flock = { args: ['i32', 'i32'], returns: 'i32' } as const
  const where = { args: [], returns: 'ptr' } as const
  if (process.platform === 'darwin') {
    const { symbols } = openLibrary({ flock, __error: where })
    return { symbols, errno: () => errorAt(symbols.__error()) }
  }
  const { symbols } = openLibrary({ flock, __errno_location: where })
  return { symbols, errno: () => errorAt(symbols.__errno_location()) }
}

function errorAt(place: Pointer | bigint | null): number {
  return place ? read.i32(Number(place) as Pointer, 0) : 0
}

let loadedPrctl: ((option: number, value: bigint) => number) | undefined

function control(option: number, value: bigint): boolean {
  if (process.platform !== 'linux') return false
  if (!loadedPrctl) {
    const args = ['i32', 'u64', 'u64', 'u64', 'u64'] as const
    const { symbols } = openLibrary({ prctl: { args, returns: 'i32' } as const })
    loadedPrctl = (code, first) => symbols.prctl(code, first, 0n, 0n, 0n)
  }
  return loadedPrctl(option, value) === 0
}

function openLibrary<const Calls extends Parameters<typeof dlopen>[1]>(calls: Calls) {
  return dlopen(process.platform === 'darwin' ? '/usr/lib/libSystem.B.dylib' : mappedLibc(), calls)
}

/**
 * The C library that this process already runs on, glibc or musl, by its absolute path. A bare name that the
 * loader does not know would be looked for in the working folder, where anybody could have put one.
 */
function mappedLibc(): string {
  const maps = readFileSync('/proc/self/maps', 'utf8')
  const path = maps.match(/\s(\/\S*\/(?:libc\.so\.6|libc-[\d.]+\.so|(?:ld|libc)[-.]musl-\w+\.so\.1))$/m)?.[1]
  if (path === undefined) throw new Error('no C library in /proc/self/maps')
  return path
}
