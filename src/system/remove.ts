import { chmodSync, lstatSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { patiently } from './patience.ts'
import { isWindows } from './platform.ts'

/**
 * Removes a file, or a folder with everything in it; a link goes, what it points to stays. Fine when there is nothing.
 * Throws the system's error.
 */
export function removeTree(path: string | Buffer): void {
  // The types have no room for names that are not text; the system has.
  if (isWindows) removeStep(path.toString())
  else rmSync(path as string, { recursive: true, force: true })
}

/** Somebody else may be removing the same: what is gone already is fine. */
function removeStep(path: string): void {
  try {
    const stat = lstatSync(path)
    if (stat.isDirectory()) {
      for (const name of readdirSync(path)) removeStep(join(path, name))
      patiently(() => rmdirSync(path))
    } else {
      // Git marks its objects read-only, and Windows then refuses to remove them.
      if ((stat.mode & 0o200) === 0) chmodSync(path, 0o600)
      patiently(() => (stat.isSymbolicLink() ? removeLink(path) : unlinkSync(path)))
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** A junction is a link that goes as a folder does. */
function removeLink(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    rmdirSync(path)
  }
}
