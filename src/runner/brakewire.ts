import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { LoopPlaces, Project } from '../store/layout.ts'
import { loopPlaces, taskPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { memoryFile } from '../store/memory.ts'
import { fileDigest, readable, sha256 } from '../system/digest.ts'
import { readSmall } from '../system/small-file.ts'

/** Content hashes of everything that a session must not touch, by a name for people. */
export type BrakeRecord = Record<string, string>

/** Where the brakes lie. */
export interface BrakePlaces {
  places: LoopPlaces
  project: Project
  home: string
  task: string
}

/**
 * Hashes the brakes (contract, section 8): configuration, state, log, the task's folder, prompts, plugins; and what
 * people decided about the project's other loops, whose state defends itself.
 */
export function recordBrakes({ places, project, home, task }: BrakePlaces): BrakeRecord {
  const record: BrakeRecord = {}
  const note = (name: string, path: string) => hashInto(record, name, path)
  note('loop.json', places.config)
  Object.assign(record, hashesOfRecords(places))
  note('memory.json', memoryFile(places))
  for (const name of namesIn(places.dir)) if (name.endsWith('.md')) note(name, join(places.dir, name))
  note(`tasks/${task}`, taskPlaces(project, task).dir)
  note('home/prompts', join(home, 'prompts'))
  note('home/plugins', join(home, 'plugins'))
  note('home/trust.json', join(home, '.automaton', 'trust.json'))
  note('home/models.json', join(home, 'models.json'))
  note('home/config.md', join(home, 'config.md'))
  note('plugins', join(project.automaton, 'plugins'))
  note('config.json', join(project.automaton, 'config.json'))
  for (const other of listLoops(project)) {
    if (other !== places.name) noteNeighbour(record, loopPlaces(project, other))
  }
  return record
}

/** The names of that part of it which automaton itself writes between two ticks. */
export const recordNames: readonly string[] = ['.state.loop', '.state.log', 'tick script']

/** That part; what is not there has no hash. */
export function hashesOfRecords({ state, log, script }: LoopPlaces): BrakeRecord {
  const record: BrakeRecord = {}
  hashInto(record, '.state.loop', state)
  hashInto(record, '.state.log', log)
  hashInto(record, 'tick script', script)
  return record
}

/** The names whose content differs, or which came or went. A loop that a person made meanwhile is no change. */
export function changedBrakes(before: BrakeRecord, after: BrakeRecord): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const isNewNeighbour = (name: string) => name.startsWith(neighbours) && before[name] === undefined
  return [...names].filter((name) => before[name] !== after[name] && !isNewNeighbour(name)).sort()
}

const neighbours = 'loops/'

/** Its interval is left out, which `install-schedule` writes while other loops tick, and which lifts no brake. */
function noteNeighbour(record: BrakeRecord, places: LoopPlaces): void {
  const name = `${neighbours}${places.name}`
  for (const file of namesIn(places.dir)) {
    if (file.endsWith('.md')) hashInto(record, `${name}/${file}`, join(places.dir, file))
  }
  hashInto(record, `${name}/loop.json`, places.config)
  if (kindOf(places.config) !== 'file') return
  try {
    const { schedule: _, ...decided } = JSON.parse(readSmall(places.config) ?? '')
    record[`${name}/loop.json`] = sha256(JSON.stringify(decided))
  } catch {
    // What is no JSON object is compared byte for byte.
  }
}

/** What cannot be read is recorded as that: a session may have shut it, and it counts when it could be read before. */
function hashInto(record: BrakeRecord, name: string, path: string): void {
  const kind = kindOf(path)
  if (kind === 'folder') {
    const entries = readable(() => readdirSync(path).sort())
    if (typeof entries === 'string') record[name] = entries
    else for (const entry of entries) hashInto(record, `${name}/${entry}`, join(path, entry))
  } else if (kind === 'file') {
    record[name] = fileDigest(path)
  } else if (kind !== 'missing') {
    record[name] = kind
  }
}

/** A link is recorded by its target and never followed: what it points to is not a brake file. */
function kindOf(path: string): string {
  const kind = readable(() => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (!stat) return 'missing'
    if (stat.isSymbolicLink()) return `link:${readlinkSync(path)}`
    if (stat.isDirectory()) return 'folder'
    return stat.isFile() ? 'file' : 'special'
  })
  // Below a file there is nothing.
  return kind === 'unreadable ENOTDIR' ? 'missing' : kind
}

function namesIn(folder: string): string[] {
  const entries = kindOf(folder) === 'folder' ? readable(() => readdirSync(folder).sort()) : []
  return typeof entries === 'string' ? [] : entries
}
