import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { errors } from '../errors.ts'

const limit = 1 << 20

/** The text of a brief: of a file, or of standard input for `-`. Throws `usage` for what cannot be one. */
export async function readBrief(path: string, cwd: string): Promise<string> {
  const file = path === '-' ? null : resolve(cwd, path)
  const see = 'automaton create-task --help'
  if (file !== null && !statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw errors.usage(`no brief (${path})`, 'there is no such file', see)
  }
  const bytes = readAll(file)
  if (bytes.length > limit) throw errors.usage(`brief too long (${path})`, 'it has over 1 MiB', see)
  const text = bytes.toString('utf8')
  if (text.includes('\0')) throw errors.usage(`no brief (${path})`, 'it is not text', see)
  return text.replace(/^\ufeff/, '')
}

/** At most one byte more than the limit. */
function readAll(file: string | null): Buffer {
  const fd = file === null ? 0 : openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(limit + 1)
    let length = 0
    while (length <= limit) {
      const got = readSome(fd, buffer, length)
      if (got === 0) break
      length += got
    }
    return buffer.subarray(0, length)
  } finally {
    if (file !== null) closeSync(fd)
  }
}

/** Standard input may be set not to wait; then it is asked again. */
function readSome(fd: number, buffer: Buffer, at: number): number {
  for (;;) {
    try {
      return readSync(fd, buffer, at, buffer.length - at, null)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : ''
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN') throw error
      Bun.sleepSync(5)
    }
  }
}
