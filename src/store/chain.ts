import { closeSync, fsyncSync, ftruncateSync, lstatSync, openSync, readSync, renameSync } from 'node:fs'
import * as v from 'valibot'
import { errors } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import type { TaskState } from '../machine/task.ts'
import { sha256 } from '../system/digest.ts'
import { appendLine, openRegular, plainReason, readRange } from './atomic.ts'
import { firstIssue, LoopRecordSchema, TaskStateSchema } from './schema.ts'

/** A state as a log record keeps it: all but its link to the log. */
export type RecordedState = Omit<LoopState, 'log_head'>

/** One line of `.state.log`. `prev` comes first in the line, so that the chain is checked without parsing. */
export interface LogRecord {
  /** SHA-256 of the line before, in hex; zeros in the first. */
  prev: string
  /** 1 in the first record, one more in each. */
  seq: number
  at: string
  /** What happened, such as `tick`, `halt`, `approve`. */
  type: string
  run: string | null
  by: string
  data: Record<string, unknown>
  /** The task as this record leaves it, where it moves one; an unfinished write is finished with it. */
  task: TaskState | null
  /** The loop's complete state after this record. */
  state: RecordedState
}

/** Where one good line lies in the log. */
export interface Link {
  seq: number
  /** SHA-256 of the line without its end, in hex. */
  hash: string
  start: number
  /** After the last byte, before the line end. */
  end: number
}

/** What a walk along the chain found. */
export interface Chain {
  /** Every line up to the first that does not follow from the one before. */
  links: Link[]
  /** Why the walk ended early, for people; null when every whole line is good. */
  broken: string | null
  /** Bytes after the last line end: a write that did not finish. Not counted when the chain is broken. */
  torn: number
}

/** What the first record names as the one before. */
export const noHash = '0'.repeat(64)

/** A record as its line, without the line end. No field can break the line, whichever way it is split. */
export function formatRecord({ prev, seq, at, type, run, by, data, task, state }: LogRecord): string {
  const text = JSON.stringify({ prev, seq, at, type, run, by, data, ...(task && { task }), state })
  return text.replace(/[\u2028\u2029]/g, (end) => (end === '\u2028' ? '\\u2028' : '\\u2029'))
}

/** The hash that chains a line, in hex. */
export function hashOf(line: string | Uint8Array): string {
  return sha256(line)
}

/** Hashes every line of a log; null when there is no log. A log that cannot be read throws a plain error with the reason. */
export function walkChain(file: string): Chain | null {
  return withLog(file, (fd) => {
    const chain: Chain = { links: [], broken: null, torn: 0 }
    let prev = noHash
    let start = 0
    for (const { bytes, whole } of splitLines(fd)) {
      if (!whole) {
        chain.torn = bytes.length
        break
      }
      const seq = chain.links.length + 1
      chain.broken = problemOf(bytes, prev, seq)
      if (chain.broken !== null) break
      prev = hashOf(bytes)
      chain.links.push({ seq, hash: prev, start, end: start + bytes.length })
      start += bytes.length + 1
    }
    return chain
  })
}

/** Reads the record of a good line; a string says why it cannot be read. */
export function readLink(file: string, link: Link): LogRecord | string {
  try {
    const bytes = withLog(file, (fd) => readRange(fd, link.start, link.end))
    if (!bytes || hashOf(bytes) !== link.hash) return 'it has just changed'
    const read = v.safeParse(RecordSchema, JSON.parse(bytes.toString('utf8')))
    return read.success ? read.output : firstIssue(read.issues)
  } catch (error) {
    return plainReason(error)
  }
}

/**
 * The last whole line, or that of the log's first `upTo` bytes, found from the end without reading the whole log; null
 * when there is none.
 */
export function lastLine(
  file: string,
  { upTo = Number.POSITIVE_INFINITY } = {},
): { hash: string; end: number; torn: number } | null {
  return withLog(file, (fd, whole) => {
    const size = Math.min(whole, upTo)
    for (let span = 1 << 16; ; span *= 4) {
      const from = Math.max(0, size - span)
      const bytes = readRange(fd, from, size)
      const end = bytes.lastIndexOf(lineEnd)
      const start = end < 1 ? -1 : bytes.lastIndexOf(lineEnd, end - 1)
      if (start < 0 && from > 0) continue
      if (end < 0) return null
      return { hash: hashOf(bytes.subarray(start + 1, end)), end: from + end, torn: bytes.length - end - 1 }
    }
  })
}

/**
 * Ends the log after a line (null: before the first). What follows is moved to the end of `<log>.torn`, so that
 * nothing is lost. The caller holds the lock. Throws `write_failed`.
 */
export function cutAfter(file: string, line: { end: number } | null): void {
  const goodEnd = line ? line.end + 1 : 0
  const tail = withLog(file, (fd, size) => readRange(fd, goodEnd, Math.max(goodEnd, size)))
  if (!tail || tail.length === 0) return
  appendLine(`${file}.torn`, tail.at(-1) === lineEnd ? tail.subarray(0, -1) : tail)
  try {
    const fd = openSync(file, 'r+')
    try {
      ftruncateSync(fd, goodEnd)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    throw errors.writeFailed(file, plainReason(error), error)
  }
}

/** Renames whatever is at a path to `<path>.damaged-<time>`, and never over something else. Throws `write_failed`. */
export function setAside(path: string, at: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) return
  const base = `${path}.damaged-${at.replace(/[^0-9TZ]/g, '')}`
  let to = base
  for (let n = 2; lstatSync(to, { throwIfNoEntry: false }); n++) to = `${base}-${n}`
  try {
    renameSync(path, to)
  } catch (error) {
    throw errors.writeFailed(to, plainReason(error), error)
  }
}

function withLog<T>(file: string, use: (fd: number, size: number) => T): T | null {
  const opened = openRegular(file)
  if (!opened) return null
  try {
    return use(opened.fd, opened.size)
  } finally {
    closeSync(opened.fd)
  }
}

const lineEnd = 0x0a
const chunkSize = 1 << 18
const longestLine = 1 << 26
const opening = /^\{"prev":"([0-9a-f]{64})","seq":(\d{1,15}),/
/** The opening with the longest number. */
const openingLength = 9 + 64 + 8 + 15 + 1

const RecordSchema = v.strictObject({
  prev: v.string(),
  seq: v.number(),
  at: v.pipe(v.string(), v.isoTimestamp()),
  type: v.string(),
  run: v.nullable(v.string()),
  by: v.string(),
  data: v.record(v.string(), v.unknown()),
  task: v.optional(v.nullable(TaskStateSchema), null),
  state: LoopRecordSchema,
})

function problemOf(line: Buffer, prev: string, seq: number): string | null {
  const found = opening.exec(line.toString('latin1', 0, openingLength))
  if (!found) return `record ${seq} is not a record`
  if (Number(found[2]) !== seq) return `record ${seq} is numbered ${found[2]}`
  return found[1] === prev ? null : `the chain breaks before record ${seq}`
}

/** Lines without their ends, and what follows the last end. */
function* splitLines(fd: number): Generator<{ bytes: Buffer; whole: boolean }> {
  let parts: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkSize)
    let rest = chunk.subarray(0, readSync(fd, chunk, 0, chunkSize, null))
    if (rest.length === 0) break
    for (let at = rest.indexOf(lineEnd); at >= 0; at = rest.indexOf(lineEnd)) {
      yield { bytes: Buffer.concat([...parts, rest.subarray(0, at)]), whole: true }
      parts = []
      length = 0
      rest = rest.subarray(at + 1)
    }
    parts.push(rest)
    length += rest.length
    if (length > longestLine) throw new Error(`a line is longer than ${longestLine} bytes`)
  }
  if (length > 0) yield { bytes: Buffer.concat(parts), whole: false }
}
