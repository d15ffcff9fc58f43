import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { projectHash } from '../api/scheduler.ts'
import { errors } from '../errors.ts'
import { codeOf, ensureFolder, plainReason, readBounded, writeAtomic } from './atomic.ts'
import { isName } from './layout.ts'

/**
 * Where HOME remembers which projects have had a schedule, so that an uninstall finds their units: a file for each, and one for each unit, so
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

/** A unit that was installed: what is needed to remove it once its loop is gone. */
export interface NotedUnit {
  root: string
  loop: string
  scheduler: string
}

/** The units that were installed and not removed; those of older versions are not among them. Throws `read_failed`. */
export function notedUnits(home: string): NotedUnit[] {
  const book = projectBook(home)
  return entriesOf(book, unitName).flatMap((name) => {
    const [root, scheduler] = (readBounded(join(book, name), 1 << 16) ?? '').split('\n')
    const loop = name.slice(9)
    return root && scheduler && isName(loop) ? [{ root, loop, scheduler }] : []
  })
}

/** Writes a unit down, with its project. Throws `write_failed`. */
export function noteUnit(home: string, { root, loop, scheduler }: NotedUnit): void {
  noteProject(home, root)
  const file = join(projectBook(home), `${projectHash(root)}.${loop}`)
  const text = `${root}\n${scheduler}\n`
  if (readBounded(file, 1 << 16) !== text) writeAtomic(file, text)
}

/** Forgets a unit; its project stays written down. */
export function forgetUnit(home: string, { root, loop }: { root: string; loop: string }): void {
  rmSync(join(projectBook(home), `${projectHash(root)}.${loop}`), { force: true })
}

/** Forgets a project. */
export function forgetProject(home: string, root: string): void {
  rmSync(join(projectBook(home), projectHash(root)), { force: true })
}

const projectName = /^[0-9a-f]{8}$/
const unitName = /^[0-9a-f]{8}\.[a-z0-9-]+$/

function entriesOf(folder: string, wanted = projectName): string[] {
  try {
    return readdirSync(folder).filter((name) => wanted.test(name))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw errors.readFailed(folder, plainReason(error), error)
  }
}
