import { writeSync } from 'node:fs'

/** What became of a text that was to be written. */
export type Written = 'written' | 'closed' | 'failed'

/**
 * Writes to standard output (1) or standard error (2), to the last byte before it returns.
 * `closed`: nobody reads any more, as behind `| head -1`, which is no error. `failed`: the disk is full or the like.
 */
export function write(fd: 1 | 2, text: string): Written {
  let rest: Uint8Array = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'EAGAIN') Bun.sleepSync(2)
      else if (code === 'EPIPE' || code === 'EBADF' || code === 'ECONNRESET') return 'closed'
      else return 'failed'
    }
  }
  return 'written'
}
