import { statfsSync } from 'node:fs'
import { errors } from '../errors.ts'

/** Free space, in bytes, under which no session is started: its log, its artifact and the tick's end need room. */
export const leastFreeBytes = 16 << 20

/** Refuses to go on where the disk could not hold what a tick writes. Throws `write_failed`. */
export function requireSpace(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= leastFreeBytes) return
  const why = `no space left: ${Math.floor(free / 1024)} KiB are free, a tick needs ${leastFreeBytes >> 20} MiB`
  throw errors.writeFailed(folder, why)
}
