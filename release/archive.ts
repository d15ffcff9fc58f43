import { promisify } from 'node:util'
import { crc32, deflateRaw, gzip } from 'node:zlib'
import { Zip, type ZipInputFile } from 'fflate'
import { createTar } from 'nanotar'

/** A file of an archive. */
export interface Entry {
  name: string
  bytes: Uint8Array
  executable: boolean
}

/**
 * A `.tar.gz` of files, the same bytes each time: they belong to root, and are of the one time that is given (seconds since
 * 1970).
 */
export async function tarGz(entries: readonly Entry[], time: number): Promise<Uint8Array> {
  const owner = { uid: 0, gid: 0, user: 'root', group: 'root' }
  const tar = createTar(
    entries.map(({ name, bytes, executable }) => ({
      name,
      data: bytes,
      attrs: { ...owner, mode: executable ? '755' : '644', mtime: time * 1000 },
    })),
  )
  // Node's gzip writes no time and no name.
  return promisify<Uint8Array, object, Buffer>(gzip)(tar, { level })
}

/** A `.zip` of files, the same bytes each time, for systems that have no `tar`. Compressed by zlib, which is far quicker than JavaScript. */
export async function zip(entries: readonly Entry[], time: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  const archive = new Zip((error, part) => {
    if (error) throw error
    parts.push(part)
  })
  for (const { name, bytes, executable } of entries) {
    const file: ZipInputFile = {
      filename: name,
      size: bytes.length,
      crc: crc32(bytes),
      compression: deflated,
      os: unix,
      attrs: (executable ? 0o100755 : 0o100644) << 16,
      mtime: wallClock(time),
    }
    archive.add(file)
    const packed = await promisify<Uint8Array, object, Buffer>(deflateRaw)(bytes, { level })
    file.ondata?.(null, Uint8Array.from(packed), true)
  }
  archive.end()
  return Buffer.concat(parts)
}

const level = 6
const deflated = 8
const unix = 3

/** A zip knows local times only: one that reads the same wherever the archive is made. */
function wallClock(time: number): Date {
  const utc = new Date(time * 1000)
  return new Date(
    utc.getUTCFullYear(),
    utc.getUTCMonth(),
    utc.getUTCDate(),
    utc.getUTCHours(),
    utc.getUTCMinutes(),
    utc.getUTCSeconds(),
  )
}
