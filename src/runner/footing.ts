import { statSync } from 'node:fs'
import { lastLine } from '../store/chain.ts'
import { glance } from '../store/journal.ts'
import { loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { isWindows } from '../system/platform.ts'

/** What the project's loops stand on: it may grow while a session runs, but not be another. */
export interface Footing {
  /** Device and number of the folders, by name. */
  folders: ReadonlyMap<string, string>
  /** Where the other loops' logs ended, and with what. */
  histories: ReadonlyMap<string, History>
}

/** A log's last whole line, which carries the hash of the one before: where it ends, and its hash. */
interface History {
  end: number
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
  const line = lineOf(project, loop)
  return line === 'unreadable' ? null : line
}

/** A log that was rewritten, by `repair` or by a tick that mends it, leaves its loop halted, which lifts no brake. */
function isContinued(project: Project, loop: string, { end, hash }: History): boolean {
  const line = lineOf(project, loop, end + 1)
  if (line === 'unreadable') return true
  if (line?.end === end && line.hash === hash) return true
  return glance(loopPlaces(project, loop))?.status === 'halted'
}

/** Null when there is none. A log that cannot be read stops its own loop, whose next tick says so. */
function lineOf(project: Project, loop: string, upTo?: number): History | 'unreadable' | null {
  try {
    return lastLine(loopPlaces(project, loop).log, upTo === undefined ? {} : { upTo })
  } catch {
    return 'unreadable'
  }
}
