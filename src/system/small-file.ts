import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, statSync, writeSync } from 'node:fs'

const limit = 16 << 20
/** What is copied at most: an index of millions of files is smaller. */
const copyLimit = 1 << 30
const chunk = 1 << 16

/**
 * The text of a small file; null when it is missing, is over 16 MiB, or is no file. Never waits, as a named pipe would
 * make it. Tried twice, so that a fault that passes does not pass for a missing file.
 */
export function readSmall(file: string): string | null {
  for (let left = 1; ; left--) {
    try {
      return readRegular(file)
    } catch {
      if (left === 0) return null
    }
  }
}

/** Its first line. */
export function readLine(file: string): string | null {
  return readSmall(file)?.split('\n', 1)[0] ?? null
}

/**
 * Copies a plain file, or what a link to one names, over whatever is at the other name. False, and nothing is written,
 * when there is none, or when it is over 1 GiB; a pipe or a device in its place is never waited for. Throws the system's
 * error.
 */
export function copyRegular(from: string, to: string): boolean {
  const fd = openRegular(from, copyLimit)
  if (fd === null) return false
  try {
    const out = openSync(to, 'w', 0o600)
    try {
      for (const bytes of chunksOf(fd, copyLimit)) {
        for (let done = 0; done < bytes.length; ) done += writeSync(out, bytes, done)
      }
    } finally {
      closeSync(out)
    }
    return true
  } finally {
    closeSync(fd)
  }
}

/** Whether a folder is there, and no link to one. */
export function isRealFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory()
  } catch {
    return false
  }
}

function readRegular(file: string): string | null {
  const fd = openRegular(file, limit)
  if (fd === null) return null
  try {
    // Files that the kernel makes up say that they have no bytes, so the end is what is looked for.
    const parts: Buffer[] = []
    for (const bytes of chunksOf(fd, limit)) parts.push(Buffer.from(bytes))
    return Buffer.concat(parts).toString('utf8')
  } finally {
    closeSync(fd)
  }
}

/** Null for what is missing, no plain file, or too large. It is looked at before it is opened, as opening can act on a device. */
function openRegular(file: string, most: number): number | null {
  const isGood = (stat: { isFile(): boolean; size: number } | undefined) =>
    stat?.isFile() === true && stat.size <= most
  if (!isGood(statSync(file, { throwIfNoEntry: false }))) return null
  const fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  if (isGood(fstatSync(fd))) return fd
  closeSync(fd)
  return null
}

/** The same buffer each time. Throws when there is more than was allowed. */
function* chunksOf(fd: number, most: number): Generator<Uint8Array> {
  const buffer = Buffer.alloc(chunk)
  let left = most
  for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
    left -= read
    if (left < 0) throw new Error(`it has over ${most} bytes`)
    yield buffer.subarray(0, read)
  }
}
