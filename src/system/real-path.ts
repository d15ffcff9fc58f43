import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isWindows } from './platform.ts'

/**
 * A path without links, as the disk spells it: on Windows one file has many names (`c:\USERS`, `PROGRA~1`), and paths are
 * compared as texts. Throws the system's error when there is nothing.
 */
export function realPath(path: string): string {
  return isWindows ? realpathSync.native(path) : realpathSync(path)
}

/**
 * The same of an absolute path of which nothing, or only the beginning, exists yet. A link that leads nowhere counts as
 * what it names: a write would go there. What this user may not look at stays as it is written.
 */
export function realDestination(path: string): string {
  return follow(path, 40)
}

function follow(path: string, left: number): string {
  try {
    return realPath(path)
  } catch {
    const folder = dirname(path)
    if (folder === path || left === 0) return path
    const link = linkAt(path)
    if (link !== null) return follow(resolve(folder, link), left - 1)
    return join(follow(folder, left - 1), basename(path))
  }
}

function linkAt(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    return null
  }
}
