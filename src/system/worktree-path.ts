import { sep } from 'node:path'

/** True for a path inside some loop's worktree. */
export function isInWorktree(path: string): boolean {
  const parts = path.split(sep)
  return parts.some(
    (part, i) => part === '.automaton' && parts[i + 1] === 'loops' && parts[i + 3] === 'worktree',
  )
}
