import { lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { App } from '../app.ts'
import { glance } from '../store/journal.ts'
import type { LoopPlaces, Project } from '../store/layout.ts'
import { loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { readRun } from '../store/run.ts'
import { ancestors, type Forebear, isAlive, lineage } from '../system/process.ts'

/**
 * True when the process, or one above it, belongs to a session of a tick: then the caller is an agent, whatever its own
 * environment says. Known are the ticks and sessions that this project's run.json files name, and on Linux also every
 * process that was started with a session's variables, and what a tick took over when its parent died. A session that has
 * killed its tick, or has something else start a program for it, is not seen. `changesHome` says that HOME would be changed too.
 */
export function belongsToSession(app: App, pid: number, changesHome = false): boolean {
  const project = projectOf(app)
  const named = project ? namedProcesses(project) : new Set()
  // A shell may have turned into the caller itself.
  if (named.size > 0 && [pid, ...ancestors(pid)].some((above) => named.has(above))) return true
  const isThere = project !== null && bornAt(project.automaton) !== null
  if (!isThere && !changesHome) return false
  const starts = startsOf(app, pid)
  if (starts.length === 0) return false
  // A project that the session itself made is its own: the tests of a program that uses automaton make some.
  const oldest = Math.min(
    isThere ? oldestOf(project) : never,
    (changesHome ? bornAt(app.home) : null) ?? never,
  )
  return starts.some((start) => oldest <= start)
}

/** The project's own folder, its loops or its tasks, where that is a link; else null. */
export function linkedFolder(app: App): string | null {
  const project = projectOf(app)
  if (!project) return null
  const { automaton, loops, tasks } = project
  return [automaton, loops, tasks].find(isLink) ?? null
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

/** The ticks that run, and their sessions. */
function namedProcesses(project: Project): Set<number> {
  const named = new Set<number>()
  for (const loop of listLoops(project)) {
    const run = readRun(loopPlaces(project, loop))
    if (!run || 'problem' in run) continue
    if (isAlive(run.automaton)) named.add(run.automaton.pid)
    if (!run.session) continue
    const { pid: first, start } = run.session
    if (isAlive({ pid: first, start, boot: run.automaton.boot })) named.add(first)
  }
  return named
}

/** When each tick and each session began that the process belongs to, in milliseconds. */
function startsOf(app: App, pid: number): number[] {
  const starts = new Map<string, number>()
  // Nearest first, so that of each session its first process is what stays.
  for (const one of lineage(pid)) {
    const of = one.pid !== pid && isTick(one, app) ? `tick ${one.pid}` : sessionOf(one)
    if (of !== null) starts.set(of, one.startedAt)
  }
  return [...starts.values()]
}

function sessionOf({ environment }: Forebear): string | null {
  const marks = environment.filter((entry) => /^AUTOMATON_(IN_TICK|RUN_ID)=/.test(entry))
  return marks.find((entry) => entry.startsWith('AUTOMATON_RUN_ID=')) ?? marks[0] ?? null
}

function isTick({ argv }: Forebear, { self }: App): boolean {
  // The caller may be a copy of the program, under a name of its own.
  const names = ['automaton', basename(self[0] ?? '')]
  return argv.includes('tick') && names.includes(basename(argv[0] ?? ''))
}

/**
 * When the oldest part of a project was made, in milliseconds, wherever its links lead: a new folder around the loops of
 * another project is not a new project, nor is a new `.automaton` in an old one, nor a copy of a loop, which could be put
 * back at the place of the original.
 */
function oldestOf(project: Project): number {
  const { root, automaton, loops, tasks } = project
  const parts = [root, automaton, ...[automaton, loops, tasks].flatMap(inside)]
  const entries = [loops, tasks].flatMap(inside).flatMap(inside)
  const histories = listLoops(project).map((loop) => begunAt(loopPlaces(project, loop)))
  const births = [...parts, ...entries].map(bornAt)
  return Math.min(...[...births, ...histories].map((time) => time ?? never))
}

/** When a loop was made, by its state; null when it has none that can be read. */
function begunAt(places: LoopPlaces): number | null {
  const state = glance(places)
  return state && Date.parse(state.created_at)
}

/** When a file or folder was made, in milliseconds; null when it is missing. A copy is new, another name is not. */
function bornAt(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.birthtimeMs ?? null
  } catch {
    // What cannot be looked at, such as a link that leads to itself, passes for nothing new.
    return 0
  }
}

const never = Number.POSITIVE_INFINITY

function inside(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    // What is missing, or no folder, has nothing in it.
    return []
  }
}

function projectOf(app: App): Project | null {
  try {
    return app.project()
  } catch {
    // The verb itself says what is wrong with the project.
    return null
  }
}
