import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

// Bun's own hash and the global `crypto`: `node:crypto` takes longer to load than a short command runs.

/** The SHA-256 of something, in hex. */
export function sha256(data: string | Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(data).digest('hex')
}

/**
 * What a file holds, to be compared: the SHA-256 of its bytes, or over 64 MiB its size, times and inode, so that a sparse
 * file of terabytes is neither read nor too much. `special` for what is no file, `unreadable CODE` for what cannot be
 * read at the second try either: both are something to find, not to fail at. Throws only where the machine is short of
 * memory or descriptors, which says nothing of the file.
 */
export function fileDigest(file: string): string {
  return readable(() => digestOf(file))
}

/** The same care for other looks at a file or folder. */
export function readable<T>(look: () => T): T | `unreadable ${string}` {
  for (let left = 1; ; left--) {
    try {
      return look()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (left > 0) continue
      if (code === undefined || shortages.has(code)) throw error
      return `unreadable ${code}`
    }
  }
}

/** Random bytes from the system. */
export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count))
}

/** The same in hex. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toHex()
}

const shortages = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])
const readLimit = 64 << 20
const chunk = 1 << 20

function digestOf(file: string): string {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return 'special'
  // A pipe may have taken its place since.
  const fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(fd, { bigint: true })
    if (!stat.isFile()) return 'special'
    const hasher = new Bun.CryptoHasher('sha256')
    const buffer = Buffer.allocUnsafe(Math.min(Number(stat.size) + 1, chunk))
    let left = stat.size > readLimit ? 0 : readLimit + 1
    while (left > 0) {
      const count = readSync(fd, buffer, 0, Math.min(buffer.length, left), null)
      if (count === 0) return hasher.digest('hex')
      hasher.update(buffer.subarray(0, count))
      left -= count
    }
    const { size, mtimeNs, ctimeNs, ino } = fstatSync(fd, { bigint: true })
    return `large ${size} ${mtimeNs} ${ctimeNs} ${ino}`
  } finally {
    closeSync(fd)
  }
}
