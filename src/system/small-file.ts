import { lstatSync, readFileSync, statSync } from 'node:fs'

const limit = 16 << 20

/**
 * The text of a small file; null when it is missing, is over 16 MiB, or is no file. Never waits, as a named pipe would
 * make it. Tried twice, so that a fault that passes does not pass for a missing file.
 */
export function readSmall(file: string): string | null {
  for (let left = 1; ; left--) {
    try {
      const stat = statSync(file, { throwIfNoEntry: false })
      return stat?.isFile() && stat.size <= limit ? readFileSync(file, 'utf8') : null
    } catch {
      if (left === 0) return null
    }
  }
}

/** Its first line. */
export function readLine(file: string): string | null {
  return readSmall(file)?.split('\n', 1)[0] ?? null
}

/** Whether a folder is there, and no link to one. */
export function isRealFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory()
  } catch {
    return false
  }
}
