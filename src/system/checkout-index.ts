import { copyFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { errors } from '../errors.ts'
import { checkoutDir, readNames } from './checkout.ts'
import { patiently } from './patience.ts'
import { quoteArgument, type Repository } from './repository.ts'
import { copyRegular } from './small-file.ts'

/** Copies a checkout's index into a private git folder, to be read there. Null when there is none. */
export function copyIndex(o: { repo: Repository; worktree: string; into: string }): string | null {
  const gitDir = checkoutDir(o.repo, o.worktree)
  const copy = join(o.into, 'copied-index')
  if (!gitDir || !copyRegular(join(gitDir, 'index'), copy)) return null
  // A split index names its other half, which git looks for in the git folder.
  const shared = readNames(gitDir).filter((name) => /^sharedindex\.[0-9a-f]+$/.test(name))
  for (const name of shared) copyRegular(join(gitDir, name), join(o.into, name))
  return copy
}

/** Replaces a checkout's index by a private one, with the lock file that git itself uses for it. */
export function installIndex(o: { gitDir: string; index: string }): void {
  const lock = join(o.gitDir, 'index.lock')
  if (existsSync(lock)) throw errors.gitLocked(lock, `rm ${quoteArgument(lock)}`)
  copyFileSync(o.index, lock)
  patiently(() => renameSync(lock, join(o.gitDir, 'index')))
}
