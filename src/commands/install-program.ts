import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errors } from '../errors.ts'
import { ensureFolder, plainReason, writeAtomic } from '../store/atomic.ts'
import { gitNow } from '../system/git.ts'
import { isWindows } from '../system/platform.ts'
import { realPath } from '../system/real-path.ts'
import { findRepository, repositoryPlace } from '../system/repository.ts'

/** The program in HOME. */
export interface ProgramReport {
  file: string
  version: string
  /** False when it was this very program already. */
  replaced: boolean
}

/** The program's place in a HOME. */
export function programFile(home: string): string {
  return join(home, 'bin', isWindows ? 'automaton.exe' : 'automaton')
}

/**
 * Copies the running program into HOME. A tick that runs the old one goes on undisturbed. The folder ignores itself, so
 * that no repository ever has the program. Throws `usage` where the repository has a file of that name, and `write_failed`.
 */
export function installProgram(o: { home: string; self: string; version: string }): ProgramReport {
  const file = programFile(o.home)
  const folder = join(o.home, 'bin')
  refuseTracked(o.home)
  ensureFolder(folder)
  const ignore = join(folder, '.gitignore')
  if (readOrNull(ignore) === null) writeAtomic(ignore, '*\n', 0o644)
  const report = { file, version: o.version }
  if (samePath(o.self, file)) return { ...report, replaced: false }
  const bytes = readSelf(o.self)
  if (readOrNull(file)?.equals(bytes)) return { ...report, replaced: false }
  // Windows neither replaces nor removes a program that runs, but renames it.
  if (isWindows) stepAside(file)
  writeAtomic(file, bytes, 0o755)
  return { ...report, replaced: true }
}

/** Removes the program and what came with it; the folder stays if a person put something there. Returns what is gone. */
export function removeProgram(home: string): string[] {
  const file = programFile(home)
  const gone = readOrNull(file) === null ? [] : [file]
  if (isWindows) stepAside(file)
  else rmSync(file, { force: true })
  const ignore = join(home, 'bin', '.gitignore')
  if (readOrNull(ignore)?.toString() === '*\n') rmSync(ignore)
  return gone
}

function refuseTracked(home: string): void {
  const repo = findRepository(home)
  const tracked =
    repo && gitNow(repositoryPlace(repo), ['ls-files', '--', 'bin/automaton', 'bin/automaton.exe'])
  if (!tracked) return
  const why = 'your repository has this file, and the program would replace it'
  throw errors.usage(`cannot install (${programFile(home)})`, why, `git -C '${home}' rm --cached ${tracked}`)
}

function readSelf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw errors.readFailed(file, plainReason(error), error)
  }
}

function readOrNull(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch {
    return null
  }
}

function samePath(a: string, b: string): boolean {
  try {
    return realPath(a) === realPath(b)
  } catch {
    return false
  }
}

function stepAside(file: string): void {
  const old = `${file}.old`
  rmSync(old, { force: true })
  if (readOrNull(file) !== null) renameSync(file, old)
}
