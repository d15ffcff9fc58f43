import { realpathSync } from 'node:fs'
import { isWindows } from './platform.ts'

/**
 * A path without links, as the disk spells it: on Windows one file has many names (`c:\USERS`, `PROGRA~1`), and paths are
 * compared as texts. Throws the system's error when there is nothing.
 */
export function realPath(path: string): string {
  return isWindows ? realpathSync.native(path) : realpathSync(path)
}
