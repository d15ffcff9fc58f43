import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import * as v from 'valibot'
import { errors } from '../errors.ts'
import { type Clock, systemClock } from '../system/clock.ts'
import { flock, unlock } from '../system/native.ts'
import { isWindows, ownPid } from '../system/platform.ts'
import { openSole } from '../system/windows/sole.ts'
import { codeOf, plainReason, readBounded } from './atomic.ts'

/** A lock that is held until it is released, disposed of, or its process ends. Sessions do not inherit it. */
export interface Lock extends Disposable, AsyncDisposable {
  busy: false
  /** Safe to call again. */
  release(): void
}

/** Somebody else holds the lock. */
export interface Busy {
  busy: true
  /** For people, such as `pid 12, since 10:04:05Z`. */
  holder: string
}

/** How to wait for a lock. */
export interface LockOptions {
  /** Milliseconds to keep trying; 0 tries once. */
  waitMs: number
  /**
   * Lock the file's folder too (Unix, default true), so that deleting the lock file lets nobody else in. False for
   * a folder that holds more than one lock file.
   */
  folder?: boolean
  clock?: Clock
}

/**
 * Takes the lock of a file, making the file when missing; it is never removed. The operating system frees the
 * lock when its process ends, however it ends. Throws `write_failed` where no lock can be had at all.
 */
export async function acquire(file: string, options: LockOptions): Promise<Lock | Busy> {
  const clock = options.clock ?? systemClock
  const until = clock.seconds() + options.waitMs / 1000
  for (;;) {
    const release = attempt(file, options.folder ?? true, clock)
    if (release) return lockOf(release)
    if (clock.seconds() >= until) return { busy: true, holder: holderOf(file) }
    await Bun.sleep(pollMs)
  }
}

/** Whether a process holds the lock of a file now, by itself or by its folder. Takes nothing and leaves nothing behind. */
export function isHeld(file: string): boolean {
  if (isWindows) {
    if (!existsSync(file)) return false
    const handle = openSole(file)
    handle?.close()
    return handle === null
  }
  return [file, dirname(file)].some((path) => {
    const fd = openOrNull(path)
    if (fd === null) return false
    try {
      return !flock(fd, false, true)
    } finally {
      closeSync(fd)
    }
  })
}

const pollMs = 20
const holderLimit = 4096
const Holder = v.object({ pid: v.number(), since: v.pipe(v.string(), v.isoTimestamp()) })

function lockOf(free: () => void): Lock {
  let held = true
  const release = () => {
    if (held) free()
    held = false
  }
  return {
    busy: false,
    release,
    [Symbol.dispose]: release,
    [Symbol.asyncDispose]: async () => release(),
  }
}

/** One try. Returns how to free the lock, or null when somebody else has it. */
function attempt(file: string, folder: boolean, clock: Clock): (() => void) | null {
  try {
    return isWindows ? attemptWindows(file, clock) : attemptUnix(file, folder, clock)
  } catch (error) {
    throw errors.writeFailed(file, plainReason(error), error)
  }
}

function attemptUnix(file: string, folder: boolean, clock: Clock): (() => void) | null {
  for (;;) {
    const fd = openLockFile(file)
    if (!tryLock(fd)) return null
    if (!isStill(fd, file)) {
      // The file was removed or replaced between opening and locking: what is locked is not what others will open.
      closeSync(fd)
      continue
    }
    const guard = folder ? openSync(dirname(file), constants.O_RDONLY) : null
    if (guard !== null && !tryLock(guard)) {
      closeSync(fd)
      return null
    }
    ftruncateSync(fd)
    writeSync(fd, holderText(clock), 0)
    return () => {
      // The folder first: whoever then gets the file always finds the folder free.
      const held = guard === null ? [fd] : [guard, fd]
      // A close that fails must not leave this process waiting for itself.
      for (const one of held) unlock(one)
      for (const one of held) closeSync(one)
    }
  }
}

/** Opened close-on-exec, as Bun opens everything; no link is followed and a pipe does not block. */
function openLockFile(file: string): number {
  const fd = openSync(
    file,
    constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    0o600,
  )
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw new Error('it is not a regular file')
}

/** Locks an open file, or closes it and answers false. */
function tryLock(fd: number): boolean {
  let locked = false
  try {
    locked = flock(fd, true, true)
  } finally {
    if (!locked) closeSync(fd)
  }
  return locked
}

/** Null when it is not there, or not what a lock is taken of. */
function openOrNull(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return null
  }
}

function isStill(fd: number, file: string): boolean {
  const mine = fstatSync(fd, { bigint: true })
  const there = statSync(file, { bigint: true, throwIfNoEntry: false })
  return there !== undefined && there.ino === mine.ino && there.dev === mine.dev
}

/** The share mode keeps others out of the file itself, so its holder is written beside it. */
function attemptWindows(file: string, clock: Clock): (() => void) | null {
  const handle = openSole(file)
  if (!handle) return null
  try {
    writeFileSync(holderFile(file), holderText(clock), { mode: 0o600 })
  } catch (error) {
    // Only a reader of the last holder's name can be in the way, and the name is a courtesy.
    if (!['EACCES', 'EBUSY', 'EPERM'].includes(codeOf(error) ?? '')) {
      handle.close()
      throw error
    }
  }
  return () => handle.close()
}

function holderFile(file: string): string {
  return isWindows ? `${file}.holder` : file
}

function holderText(clock: Clock): string {
  return `${JSON.stringify({ pid: ownPid, since: clock.iso() })}\n`
}

/** Never throws: the holder may be writing its name just now. */
function holderOf(file: string): string {
  try {
    const { pid, since } = v.parse(Holder, JSON.parse(readBounded(holderFile(file), holderLimit) ?? ''))
    return `pid ${pid}, since ${new Date(since).toISOString().slice(11, 19)}Z`
  } catch {
    return 'another process'
  }
}
