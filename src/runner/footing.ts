import { statSync } from 'node:fs'
import { readBytes } from '../store/atomic.ts'
import { peek } from '../store/journal.ts'
import { loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { sha256 } from '../system/digest.ts'
import { isWindows } from '../system/platform.ts'

/** What the project's loops stand on: it may grow while a session runs, but not be another. */
export interface Footing {
  /** Device and number of the folders, by name. */
  folders: ReadonlyMap<string, string>
  /** How long the other loops' logs were, and what that much of them says. */
  histories: ReadonlyMap<string, History>
}

interface History {
  bytes: number
  hash: string
}

/** Looks at it. The caller's loop is `own`, and is locked, which keeps the numbers of folders as they are. */
export function recordFooting(project: Project, own: string): Footing {
  const histories = new Map<string, History>()
  for (const other of listLoops(project)) {
    const history = other === own ? null : historyOf(project, other)
    if (history) histories.set(other, history)
  }
  return { folders: foldersOf(project), histories }
}

/**
 * The names of what is another now. Not compared by a later tick that recovers: a person may have moved the project, and a
 * file system may number its folders anew.
 */
export function changedFooting(before: Footing, project: Project): string[] {
  const now = foldersOf(project)
  const folders = [...before.folders].filter(([name, is]) => now.get(name) !== is).map(([name]) => name)
  const rewritten = [...before.histories]
    .filter(([other, history]) => !isContinued(project, other, history))
    .map(([other]) => `loops/${other}/.state.log`)
  return [...folders, ...rewritten]
}

function foldersOf({ automaton, loops }: Project): Map<string, string> {
  // Whether Windows numbers folders for good depends on the file system.
  if (isWindows) return new Map()
  return new Map([
    ['.automaton', numberOf(automaton)],
    ['loops', numberOf(loops)],
  ])
}

function numberOf(folder: string): string {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.dev}:${stat.ino}` : 'missing'
}

/** Of whole lines only: what a write that was cut short left behind them is moved out of the log. */
function historyOf(project: Project, loop: string): History | null {
  const log = logOf(project, loop)
  if (log === 'unreadable' || log === null) return null
  const bytes = log.lastIndexOf(0x0a) + 1
  return { bytes, hash: sha256(log.subarray(0, bytes)) }
}

/** A log that was rewritten, by `repair` or by a tick that mends it, leaves its loop halted, which lifts no brake. */
function isContinued(project: Project, loop: string, { bytes, hash }: History): boolean {
  const log = logOf(project, loop)
  if (log === 'unreadable') return true
  if (log && log.length >= bytes && sha256(log.subarray(0, bytes)) === hash) return true
  return peek(loopPlaces(project, loop)).state?.status === 'halted'
}

/** Null when it is missing. One that cannot be read stops its own loop, whose next tick says so. */
function logOf(project: Project, loop: string): Buffer | 'unreadable' | null {
  try {
    return readBytes(loopPlaces(project, loop).log, largest)
  } catch {
    return 'unreadable'
  }
}

/** Bytes of a log that are looked at. */
const largest = 1 << 26
