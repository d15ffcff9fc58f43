import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { errors } from '../errors.ts'
import { randomHex } from '../system/digest.ts'
import { patiently } from '../system/patience.ts'
import { isWindows } from '../system/platform.ts'

/**
 * Replaces a file so that readers see the old bytes or the new ones and nothing between, also after a power
 * cut. A link at the file's place is replaced, not followed. Throws `write_failed` (nothing has changed) or
 * `durability_unknown` (the new bytes are there, but the folder could not be flushed).
 */
export function writeAtomic(file: string, data: string | Uint8Array, mode = 0o600): void {
  const folder = dirname(file)
  for (let left = 5; !replace({ folder, file, data, mode, again: left > 0 }); left--);
  try {
    syncFolder(folder)
  } catch (error) {
    throw errors.durabilityUnknown(file, plainReason(error), error)
  }
}

/**
 * Adds one line to a file, making it when missing, and waits until it is on disk. When the line cannot be
 * written whole, what was written of it is taken back. Throws `write_failed`.
 */
export function appendLine(file: string, line: string | Uint8Array): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | noFollow | noWait
  try {
    const fd = patiently(() => openSync(file, flags, 0o600))
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) throw new Error(kindOf(stat))
      try {
        writeAll(fd, Buffer.concat([Buffer.from(line), Buffer.from('\n')]))
      } catch (error) {
        ftruncateSync(fd, stat.size)
        throw error
      }
      fdatasyncSync(fd)
      if (stat.size === 0) syncFolder(dirname(file))
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    throw errors.writeFailed(file, plainReason(error), error)
  }
}

/**
 * A file's text, or null when there is none. Throws `read_failed` for anything but a regular file of at most
 * `maxBytes`; a link is not followed and a pipe does not block.
 */
export function readBounded(file: string, maxBytes: number): string | null {
  try {
    return readBytes(file, maxBytes)?.toString('utf8') ?? null
  } catch (error) {
    throw errors.readFailed(file, plainReason(error), error)
  }
}

/** The same as bytes, for callers that name the file themselves: throws a plain error whose message is the reason. */
export function readBytes(file: string, maxBytes: number): Buffer | null {
  const opened = openRegular(file)
  if (!opened) return null
  const { fd, size } = opened
  try {
    if (size > maxBytes) throw new Error(`it has ${size} bytes; at most ${maxBytes} are read`)
    return readRange(fd, 0, size)
  } finally {
    closeSync(fd)
  }
}

/** The bytes of an open file from `start` to before `end`, or fewer where it ends earlier. */
export function readRange(fd: number, start: number, end: number): Buffer {
  const bytes = Buffer.alloc(end - start)
  let done = 0
  for (let read = -1; read !== 0 && done < bytes.length; done += read) {
    read = readSync(fd, bytes, done, bytes.length - done, start + done)
  }
  return bytes.subarray(0, done)
}

/** Opens a regular file for reading; null when there is none. Anything else at its place throws a plain error with the reason. */
export function openRegular(file: string): { fd: number; size: number } | null {
  let fd: number
  try {
    fd = patiently(() => openSync(file, constants.O_RDONLY | noFollow | noWait))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new Error(plainReason(error), { cause: error })
  }
  const stat = fstatSync(fd)
  if (stat.isFile()) return { fd, size: stat.size }
  closeSync(fd)
  throw new Error(kindOf(stat))
}

/** Makes a folder and those above it, each 0700. Throws `write_failed`, also when something else is at its place. */
export function ensureFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const stat = lstatSync(dir)
    if (!stat.isDirectory()) throw new Error(kindOf(stat))
  } catch (error) {
    throw errors.writeFailed(dir, plainReason(error), error)
  }
}

/** Waits until a folder's entries are on disk. */
export function syncFolder(dir: string): void {
  if (isWindows) return
  const fd = openSync(dir, constants.O_RDONLY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Removes what writers that died left half written in a folder. The caller keeps other writers away, or those that lose
 * a file to it write it again. Returns the names.
 */
export function removeStaleTemps(dir: string): string[] {
  const stale = readdirSync(dir).filter(
    (name) => temporaryName.test(name) && lstatSync(join(dir, name), { throwIfNoEntry: false })?.isFile(),
  )
  for (const name of stale) dropQuietly(join(dir, name))
  return stale
}

/** A fresh name in a folder, of the shape that {@link removeStaleTemps} knows. */
export function temporaryIn(folder: string): string {
  return join(folder, `.automaton-tmp-${randomHex(8)}`)
}

/** Why a file operation failed, in plain words. */
export function plainReason(error: unknown): string {
  const words = plainWords[codeOf(error) ?? '']
  return words ?? (error instanceof Error ? error.message : String(error))
}

/** The system's name of an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const temporaryName = /^\.automaton-tmp-[0-9a-f]{16}$/
// Windows has neither flag, and no pipes or (for ordinary users) links in folders.
const noFollow = constants.O_NOFOLLOW ?? 0
const noWait = constants.O_NONBLOCK ?? 0

const plainWords: Record<string, string> = {
  EACCES: 'no permission',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'something else is at its place',
  EFBIG: 'it would be larger than this process may write',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'too many files are open on this machine',
  ENOENT: 'its folder is missing',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'a part of its path is not a folder',
  ENOTEMPTY: 'it is a folder with something in it',
  ENXIO: 'it is a pipe or a device',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
}

/** One try; false when a sweep ({@link removeStaleTemps}) took the temporary file of a writer that needs no lock. */
function replace(o: {
  folder: string
  file: string
  data: string | Uint8Array
  mode: number
  again: boolean
}): boolean {
  const temporary = temporaryIn(o.folder)
  try {
    writeNew(temporary, o.data, o.mode)
    patiently(() => renameSync(temporary, o.file))
    return true
  } catch (error) {
    const isSwept =
      codeOf(error) === 'ENOENT' && lstatSync(o.folder, { throwIfNoEntry: false })?.isDirectory()
    if (o.again && isSwept) return false
    dropQuietly(temporary)
    throw errors.writeFailed(o.file, plainReason(error), error)
  }
}

function writeNew(file: string, data: string | Uint8Array, mode: number): void {
  const fd = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode)
  try {
    writeAll(fd, typeof data === 'string' ? Buffer.from(data) : data)
    // The umask may have taken bits away.
    if (!isWindows) fchmodSync(fd, mode)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function writeAll(fd: number, data: Uint8Array): void {
  for (let done = 0; done < data.length; ) done += writeSync(fd, data, done, data.length - done)
}

function dropQuietly(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // It was never made, or another cleaner was faster.
  }
}

function kindOf(stat: { isDirectory(): boolean; isSymbolicLink(): boolean; isFIFO(): boolean }): string {
  if (stat.isDirectory()) return 'it is a folder'
  if (stat.isSymbolicLink()) return 'it is a symbolic link'
  return stat.isFIFO() ? 'it is a pipe' : 'it is not a regular file'
}
