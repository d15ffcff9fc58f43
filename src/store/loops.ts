import { lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { errors } from '../errors.ts'
import { nearest } from '../machine/nearest.ts'
import type { LoopState } from '../machine/state.ts'
import { patiently } from '../system/patience.ts'
import { removeTree } from '../system/remove.ts'
import {
  codeOf,
  ensureFolder,
  plainReason,
  readBounded,
  syncFolder,
  temporaryIn,
  writeAtomic,
} from './atomic.ts'
import { commit } from './journal.ts'
import { isName, loopPlaces, type Project, placesIn } from './layout.ts'

/** Throws `no_loop`, with what there is, for a loop that the project does not have. */
export function requireLoop(project: Project, name: string): void {
  const known = listLoops(project)
  if (known.includes(name)) return
  const there = known.length === 0 ? 'this project has no loops' : `this project has ${known.join(', ')}`
  throw errors.noLoop(name, there, nearest(name, known))
}

/** The project's loops by name: every folder that has a configuration or a state. */
export function listLoops(project: Project): string[] {
  return foldersIn(project.loops)
    .filter((name) => {
      const { config, state } = placesIn(join(project.loops, name), name)
      return exists(config) || exists(state)
    })
    .sort()
}

/** What a new loop starts with. */
export interface NewLoop {
  /** The text of `loop.json`. */
  config: string
  /** A state that has never ticked; it names the loop. */
  state: LoopState
  by: string
  data?: Record<string, unknown>
  /** Prompts of its own, by file name. */
  prompts?: ReadonlyMap<string, string>
}

/**
 * Makes a loop: folder, `loop.json`, state and the first log record, all at once, so that a crash leaves a whole
 * loop or none. Throws `bad_name`, and `exists` where anything is at its place already, which is left untouched.
 */
export function createLoop(project: Project, loop: NewLoop): LoopState {
  const places = loopPlaces(project, loop.state.name)
  const taken = () => errors.exists('loop', places.name, 'choose another name, or edit its loop.json')
  if (exists(places.dir)) throw taken()
  ensureFolder(project.loops)
  ensureIgnore(project)
  const draft = placesIn(temporaryIn(project.loops), places.name)
  try {
    mkdirSync(draft.dir, { mode: 0o700 })
    writeAtomic(draft.config, loop.config)
    for (const [name, text] of loop.prompts ?? []) writeAtomic(join(draft.dir, name), text)
    const entry = {
      type: 'created',
      run: null,
      by: loop.by,
      data: loop.data ?? {},
      at: loop.state.created_at,
    }
    const state = commit(draft, loop.state, loop.state, entry)
    patiently(() => renameSync(draft.dir, places.dir))
    syncFolder(project.loops)
    return state
  } catch (error) {
    removeTree(draft.dir)
    const code = codeOf(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') throw taken()
    // Errors of the catalogue pass as they are: their code is not one of the system's.
    throw code?.startsWith('E') ? errors.writeFailed(places.dir, plainReason(error), error) : error
  }
}

/**
 * Keeps runtime state out of the project's repository, where a checkout would roll it back. Lines that are there
 * stay. True when something was written.
 */
export function ensureIgnore(project: Project): boolean {
  ensureFolder(project.automaton)
  // What HOME knows of this machine means nothing on another, and trust is not for a commit to give.
  const machine = project.isHome ? ['/projects/', '/trust.json'] : []
  const lines = ['/loops/', '/cache/', '/tasks/*/.state', ...machine]
  const wrote = addLines(join(project.automaton, '.gitignore'), lines)
  if (!project.isHome) return wrote
  // HOME keeps its tasks beside `.automaton`, out of reach of that file.
  ensureFolder(project.tasks)
  return addLines(join(project.tasks, '.gitignore'), ['/*/.state']) || wrote
}

/** The names of the real folders in a folder that may name a loop or task; none when it is missing. */
export function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isName(entry.name))
      .map((entry) => entry.name)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw errors.readFailed(folder, plainReason(error), error)
  }
}

const ignoreLimit = 1 << 20

function addLines(file: string, lines: string[]): boolean {
  const text = readBounded(file, ignoreLimit) ?? ''
  const there = new Set(text.split('\n').map((line) => line.trimEnd()))
  const missing = lines.filter((line) => !there.has(line))
  if (missing.length === 0) return false
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`
  writeAtomic(file, `${start}${missing.join('\n')}\n`)
  return true
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
