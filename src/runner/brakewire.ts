import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { LoopPlaces, Project } from '../store/layout.ts'
import { taskPlaces } from '../store/layout.ts'
import { memoryFile } from '../store/memory.ts'
import { sha256 } from '../system/digest.ts'

/** Content hashes of everything that a session must not touch, by a name for people. */
export type BrakeRecord = Record<string, string>

/** Where the brakes lie. */
export interface BrakePlaces {
  places: LoopPlaces
  project: Project
  home: string
  task: string
}

/** Hashes the brakes (contract, section 8): configuration, state, log, the task's folder, prompts, plugins. */
export function recordBrakes({ places, project, home, task }: BrakePlaces): BrakeRecord {
  const record: BrakeRecord = {}
  const note = (name: string, path: string) => hashInto(record, name, path)
  note('loop.json', places.config)
  note('.state.loop', places.state)
  note('.state.log', places.log)
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
  return record
}

/** The names whose content differs, or which came or went. */
export function changedBrakes(before: BrakeRecord, after: BrakeRecord): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => before[name] !== after[name]).sort()
}

function hashInto(record: BrakeRecord, name: string, path: string): void {
  const kind = kindOf(path)
  if (kind === 'folder') {
    for (const entry of namesIn(path)) hashInto(record, `${name}/${entry}`, join(path, entry))
  } else if (kind === 'file') {
    record[name] = sha256(readFileSync(path))
  } else if (kind !== 'missing') {
    record[name] = kind
  }
}

/** A link is recorded by its target and never followed: what it points to is not a brake file. */
function kindOf(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return 'missing'
  if (stat.isSymbolicLink()) return `link:${readlinkSync(path)}`
  if (stat.isDirectory()) return 'folder'
  return stat.isFile() ? 'file' : 'special'
}

function namesIn(folder: string): string[] {
  return kindOf(folder) === 'folder' ? readdirSync(folder).sort() : []
}
