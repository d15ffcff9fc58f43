import { existsSync, statfsSync } from 'node:fs'
import { errors } from '../errors.ts'

/** Free space, in bytes, under which no session is started: its log, its artifact and the tick's end need room. */
export const leastFreeBytes = 16 << 20

/** Refuses to go on where the disk could not hold what a tick writes. Throws `write_failed` and `folder_missing`. */
export function requireSpace(folder: string): void {
  if (!existsSync(folder)) throw errors.folderMissing(folder, 'a tick has no place to write')
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= leastFreeBytes) return
  const why = `no space left: ${Math.floor(free / 1024)} KiB are free, a tick needs ${leastFreeBytes >> 20} MiB`
  throw errors.writeFailed(folder, why)
}

/**
 * What kind of network or shared file system a folder lies on, or null for any other. Locks and renames there are not what
 * they are on a disk of this machine. Numbers: `statfs(2)` and `linux/magic.h`; other systems give none that tells.
 */
export function sharedFileSystem(folder: string, platform = process.platform): string | null {
  return platform === 'linux' ? sharedKind(statfsSync(folder).type) : null
}

/** The name of a shared file system by its number. */
export function sharedKind(type: number): string | null {
  // Some systems hand the number over with a sign.
  return shared.get(type >>> 0) ?? null
}

const shared: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x01021997, '9p, as a drive of Windows in WSL is'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
])
