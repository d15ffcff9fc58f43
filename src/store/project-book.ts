import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { projectHash } from '../api/scheduler.ts'
import { errors } from '../errors.ts'
import { codeOf, ensureFolder, plainReason, readBounded, writeAtomic } from './atomic.ts'

/**
 * Where HOME remembers which projects have had a schedule, so that an uninstall finds their units: a file for each, so
 * that two commands at once never lose one.
 */
export function projectBook(home: string): string {
  return join(home, '.automaton', 'projects')
}

/** The roots of those projects, sorted; they may be gone. Throws `read_failed`. */
export function scheduledProjects(home: string): string[] {
  const book = projectBook(home)
  const roots = entriesOf(book).map((name) => readBounded(join(book, name), 1 << 16)?.trimEnd() ?? '')
  return roots.filter((root) => root !== '').sort()
}

/** Writes a project down. Throws `write_failed`. */
export function noteProject(home: string, root: string): void {
  const file = join(projectBook(home), projectHash(root))
  if (readBounded(file, 1 << 16) === `${root}\n`) return
  ensureFolder(projectBook(home))
  writeAtomic(file, `${root}\n`)
}

/** Forgets a project. */
export function forgetProject(home: string, root: string): void {
  rmSync(join(projectBook(home), projectHash(root)), { force: true })
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^[0-9a-f]{8}$/.test(name))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw errors.readFailed(folder, plainReason(error), error)
  }
}
