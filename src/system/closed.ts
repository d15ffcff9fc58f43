import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type AutomatonError, errors } from '../errors.ts'
import { nameBytes } from './names.ts'
import { quoteArgument } from './repository.ts'

/**
 * The error for something in a loop's worktree that automaton may not read, or not remove: most often a container wrote
 * it as another user. It names the file, whose it is, and the command that hands it over.
 */
export function closedError(o: {
  worktree: string
  /** As `showName` shows it. */
  name: string
  cannot: 'read' | 'removed'
}): AutomatonError {
  const { worktree, name, cannot } = o
  const path = Buffer.concat([Buffer.from(`${worktree}/`), nameBytes(name)])
  const owner = ownerOf(path) ?? ownerOf(path.subarray(0, path.lastIndexOf('/')))
  const whose = owner === null ? '' : `, which belongs to user ${owner},`
  const why = `${name}${whose} cannot be ${cannot}`
  // The folder around it too: who may not write there may not remove what is in it.
  const what = quoteArgument(join(worktree, name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : name))
  const user = process.getuid?.()
  const fix = user === undefined ? `take ownership of ${what}` : `sudo chown -R ${user} ${what}`
  return errors.worktreeUnusable(worktree, why, fix)
}

/** The number of another user that something belongs to; null when it is this user's, or cannot be said. */
function ownerOf(path: Buffer): number | null {
  try {
    const { uid } = lstatSync(path)
    return uid === process.getuid?.() ? null : uid
  } catch {
    return null
  }
}
