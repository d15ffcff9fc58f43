import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary folder that goes with its scope: `using dir = tempDir()`. */
export function tempDir(prefix = 'automaton-test-'): { path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
  return {
    path,
    [Symbol.dispose]() {
      rmSync(path, { recursive: true, force: true })
    },
  }
}
