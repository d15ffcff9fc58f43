import { dlopen, type Pointer, ptr, read } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import { toNamespacedPath } from 'node:path'

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

/** Makes this process the parent of its orphaned descendants (Linux). False where there is no such thing. */
export function subreaper(): boolean {
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

/** A file that nobody else can open while this is held (Windows). */
export interface SoleHandle {
  close(): void
}

/** Opens a file for this process alone, making it when missing (Windows). Null when another process has it open. */
export function openSole(file: string): SoleHandle | null {
  const { symbols } = kernel32()
  const path = Buffer.from(`${toNamespacedPath(file)}\0`, 'utf16le')
  const handle = symbols.CreateFileW(ptr(path), readWrite, 0, null, openAlways, normalFile, null)
  if (handle !== invalidHandle) return { close: () => void symbols.CloseHandle(handle) }
  const code = symbols.GetLastError()
  // The runtime may have cleared the code before it is read; then the only usual cause is assumed.
  if (code === sharingViolation || code === lockViolation || code === 0) return null
  throw new Error(`CreateFileW failed with error ${code}`)
}

const lockShared = 1
const lockExclusive = 2
const lockNonblocking = 4
const interrupted = 4
const wouldBlock = process.platform === 'linux' ? 11 : 35
const setParentDeathSignal = 1
const setDumpable = 4
const setChildSubreaper = 36

const readWrite = 0xc000_0000
const openAlways = 4
const normalFile = 0x80
const invalidHandle = -1n
const sharingViolation = 32
const lockViolation = 33

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

type Kernel32 = ReturnType<typeof openKernel32>

let loadedKernel32: Kernel32 | undefined

function kernel32(): Kernel32 {
  loadedKernel32 ??= openKernel32()
  return loadedKernel32
}

function openKernel32() {
  // Handles are 64-bit integers here: as pointers, the invalid handle (all ones) would not survive.
  return dlopen('kernel32.dll', {
    CreateFileW: { args: ['ptr', 'u32', 'u32', 'ptr', 'u32', 'u32', 'ptr'], returns: 'i64' },
    CloseHandle: { args: ['i64'], returns: 'i32' },
    GetLastError: { args: [], returns: 'u32' },
  } as const)
}
