import { isWindows } from './platform.ts'

/** Milliseconds between the tries on Windows, 2 s in all: many, so that a busy reader does not win each of them. */
const waits = isWindows ? Array.from({ length: 40 }, (_, n) => Math.min(3 * n, 60)) : []

/**
 * Does something to a file, and on Windows does it again for a moment when another process is in the way: a reader, a
 * virus scanner or an indexer that has the file open makes renaming and removing fail there. Elsewhere it is done once.
 */
export function patiently<T>(work: () => T, pauses: readonly number[] = waits): T {
  for (const pause of pauses) {
    try {
      return work()
    } catch (error) {
      if (!isInTheWay(error)) throw error
      Bun.sleepSync(pause)
    }
  }
  return work()
}

/** What Windows says of a file that somebody else has open, or has marked for removal. */
function isInTheWay(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return code === 'EACCES' || code === 'EBUSY' || code === 'EPERM'
}
