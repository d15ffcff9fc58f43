import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errors } from '../errors.ts'
import { realPath } from './real-path.ts'

/** Makes a folder of our own in the temporary folder, and returns it by its real path. Throws `write_failed`, which names TMPDIR. */
export function temporaryFolder(prefix: string): string {
  const root = tmpdir()
  try {
    return realPath(mkdtempSync(join(root, prefix)))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw errors.writeFailed(`${root}, where TMPDIR says that temporary files go`, why, error)
  }
}
