import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { errors } from '../errors.ts'
import { cutMark } from './capture.ts'
import { maskStream } from './hygiene.ts'
import type { Block } from './lines.ts'

/** How much of the beginning and of the end of the output is kept, in bytes. */
const headLimit = 4 * 1024 * 1024
const tailLimit = 1024 * 1024

/** A secret that the end of a cut line could hold a part of is not longer; so much of the line is left out. */
const longestSecret = 16_384

/** The log of one program: both of its streams, block by block as they come. */
export interface SessionLog {
  add(stream: 'stdout' | 'stderr', block: Block): void
  /** Writes the end of the output and closes the file. */
  finish(): void
}

/**
 * Opens the log file, emptying it; it is private to the user (0600) and never a symlink's target.
 * The beginning goes to disk as it comes, so that a person can follow; the end is written by `finish`.
 * Throws `write_failed`, also from `add` and `finish`.
 */
export function openSessionLog(file: string, mask: (text: string) => string): SessionLog {
  const fd = guard(file, () => openSync(file, openFlags, 0o600))
  const heads = { stdout: maskStream(mask), stderr: maskStream(mask) }
  const tail = recentBlocks(tailLimit)
  let left = headLimit
  return {
    add(stream, block) {
      // Once the head is full, everything belongs to the tail, even what would still fit.
      if (block.bytes.length > left) left = 0
      if (left === 0) return tail.add(stream, block)
      left -= block.bytes.length
      guard(file, () => writeAll(fd, readable(block, heads[stream])))
    },
    finish() {
      try {
        guard(file, () => writeAll(fd, tail.text(mask)))
      } finally {
        closeSync(fd)
      }
    },
  }
}

const openFlags =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_TRUNC |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0)

interface Tagged extends Block {
  stream: 'stdout' | 'stderr'
}

/** The latest blocks, of at least `limit` bytes once there were that many. */
function recentBlocks(limit: number) {
  const blocks: Tagged[] = []
  let size = 0
  let dropped = 0
  return {
    add(stream: 'stdout' | 'stderr', block: Block) {
      blocks.push({ stream, bytes: Buffer.from(block.bytes), cut: block.cut })
      size += block.bytes.length
      for (let oldest = blocks[0]; oldest && size - oldest.bytes.length >= limit; oldest = blocks[0]) {
        size -= oldest.bytes.length
        dropped += oldest.bytes.length + oldest.cut
        blocks.shift()
      }
    },
    text(mask: (text: string) => string): string {
      const oldest = blocks[0]
      if (oldest && size > limit) {
        const start = oldest.bytes.indexOf(10, size - limit) + 1
        dropped += start
        oldest.bytes = oldest.bytes.subarray(start)
      }
      const masks = { stdout: maskStream(mask, true), stderr: maskStream(mask, true) }
      const text = blocks.map((block) => readable(block, masks[block.stream])).join('')
      return dropped > 0 ? `${cutMark(dropped)}\n${text}` : text
    },
  }
}

/** A block as text, masked and with a line end. */
function readable(block: Block, mask: (text: string) => string): string {
  const text = mask(block.bytes.toString())
  if (block.cut > 0) return `${text.slice(0, -longestSecret)} ${cutMark(block.cut + longestSecret)}\n`
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

function guard<T>(file: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw errors.writeFailed(file, error instanceof Error ? error.message : String(error), error)
  }
}
