import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { UnitState } from '../api/scheduler.ts'
import type { Phase } from '../api/work.ts'
import { type AuditFacts, type AuditLoop, type AuditTask, mentionedFiles } from '../machine/audit.ts'
import { artifactOf, loopPhases, readVerdictLine } from '../machine/phases.ts'
import { readBounded } from './atomic.ts'
import { peek } from './journal.ts'
import { loopPlaces, type Project, taskPlaces } from './layout.ts'
import { listLoops } from './loops.ts'
import { projectFiles } from './project-files.ts'
import { listTasks, readTask } from './tasks.ts'

/** Where to look, and what other rooms have read already. */
export interface AuditInput {
  project: Project
  now: Date
  kept: readonly Phase[]
  /** How many models `models.json` names. */
  modelCount: number
  /** What the system's scheduler holds, by loop; a loop that is not in it could not be asked for, or has no schedule. */
  units?: ReadonlyMap<string, UnitState>
}

const fileLimit = 1 << 20

/**
 * Collects what the audit's rules look at. Files over 1 MiB count as there but are not read; built, downloaded and
 * hidden folders are not entered.
 */
export function gatherAudit({ project, now, kept, modelCount, units }: AuditInput): AuditFacts {
  const list = listTasks(project)
  const files = projectFiles(project.root)
  const tests = files.filter(isTest)
  return {
    now,
    kept,
    modelCount,
    tasks: list.names
      .filter((name) => !list.untracked.includes(name))
      .map((name) => taskFacts(project, name)),
    untracked: list.untracked.map((task) => ({ task, path: shown(project, taskPlaces(project, task).dir) })),
    loops: listLoops(project).map((name) => ({
      ...loopFacts(project, name),
      unit: units?.get(name) ?? null,
    })),
    sources: files.filter((path) => isSource(path) && !isTest(path)),
    tests: tests.map((path) => ({ path, text: textOf(project, path) })),
    designs: files.filter((path) => /^design\/.*\.md$/.test(path)).map((path) => designFacts(project, path)),
  }
}

function taskFacts(project: Project, name: string): AuditTask {
  const { dir, state: file } = taskPlaces(project, name)
  const state = readTask(project, name)
  const readable = state !== null && !('problem' in state)
  const verdicts: AuditTask['verdicts'] = {}
  for (const phase of loopPhases) {
    const artifact = artifactOf(phase)
    const text = artifact === null ? null : textIn(join(dir, artifact))
    if (text !== null) verdicts[phase] = readVerdictLine(phase, text)
  }
  return {
    task: name,
    path: shown(project, file),
    state: readable ? state : null,
    problem: readable ? null : (state?.problem ?? 'it went away'),
    files: filledFiles(dir),
    verdicts,
    hasDesign: readable && state.design_ref !== null ? hasDesign(project, state.design_ref) : null,
  }
}

function loopFacts(project: Project, name: string): Omit<AuditLoop, 'unit'> {
  const places = loopPlaces(project, name)
  const { state, problem } = peek(places)
  return {
    loop: name,
    path: shown(project, places.state),
    state: problem ? null : state,
    problem: problem?.message ?? null,
  }
}

function designFacts(project: Project, path: string): AuditFacts['designs'][number] {
  const named = mentionedFiles(textOf(project, path))
  return { path, missing: named.filter((file) => !isThere(join(project.root, file))) }
}

/** `design/loops/BACKLOG.md#add-x` is there when the file is; an address elsewhere is taken as it is. */
function hasDesign(project: Project, reference: string): boolean {
  const file = reference.replace(/#.*$/, '')
  return /^[a-z]+:/i.test(file) || isThere(join(project.root, file))
}

function filledFiles(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && (lstatSync(join(dir, entry.name)).size ?? 0) > 0)
    .map((entry) => entry.name)
    .sort()
}

/** What measures is not what is shipped. */
function isSource(path: string): boolean {
  if (/(?:^|\/)bench(?:es|marks?)?\//.test(path)) return false
  return (
    /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs|php|swift)$/.test(path) && !/\.d\.ts$|\.config\./.test(path)
  )
}

function isTest(path: string): boolean {
  return (
    /(?:^|\/)(?:tests?|spec|__tests__)\//.test(path) ||
    /(?:[._-](?:test|spec)\.\w+|(?:^|\/)test_\w+\.py)$/.test(path)
  )
}

function textOf(project: Project, path: string): string {
  return textIn(join(project.root, path)) ?? ''
}

/** Anything but a readable plain file of a bearable size has no text. */
function textIn(file: string): string | null {
  try {
    return readBounded(file, fileLimit)
  } catch {
    return null
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function shown(project: Project, path: string): string {
  return path.slice(project.root.length + 1).replaceAll('\\', '/')
}
