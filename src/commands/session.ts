import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { App } from '../app.ts'
import type { Project } from '../store/layout.ts'
import { loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { readRun } from '../store/run.ts'
import { ancestors, type Forebear, isAlive, lineage } from '../system/process.ts'

/**
 * True when the process, or one above it, belongs to a session of a tick: then the caller is an agent, whatever its own
 * environment says. Known are the sessions that this project's run.json files name, and on Linux also every process that
 * was started with a session's variables, and what a tick took over when its parent died. A session that has killed its
 * tick, or has something else start a program for it, is not seen.
 */
export function belongsToSession(app: App, pid: number): boolean {
  const project = projectOf(app)
  if (!project) return false
  const sessions = namedSessions(project)
  // A shell may have turned into the caller itself.
  if (sessions.size > 0 && [pid, ...ancestors(pid)].some((above) => sessions.has(above))) return true
  const born = bornAt(project.automaton)
  if (born === null) return false
  // A project that the session itself made is its own: the tests of a program that uses automaton make some.
  return lineage(pid).some((one) => isOfTick(one, app, pid) && born <= one.startedAt)
}

function namedSessions(project: Project): Set<number> {
  const sessions = new Set<number>()
  for (const loop of listLoops(project)) {
    const run = readRun(loopPlaces(project, loop))
    if (!run || 'problem' in run || !run.session) continue
    const { pid: first, start } = run.session
    if (isAlive({ pid: first, start, boot: run.automaton.boot })) sessions.add(first)
  }
  return sessions
}

function isOfTick(one: Forebear, { self }: App, caller: number): boolean {
  if (one.environment.some((entry) => /^AUTOMATON_(IN_TICK|RUN_ID)=/.test(entry))) return true
  const { argv } = one
  return one.pid !== caller && argv.includes('tick') && basename(argv[0] ?? '') === basename(self[0] ?? '')
}

/** When a folder was made, in milliseconds; null when it is missing. */
function bornAt(folder: string): number | null {
  return statSync(folder, { throwIfNoEntry: false })?.birthtimeMs ?? null
}

function projectOf(app: App): Project | null {
  try {
    return app.project()
  } catch {
    // The verb itself says what is wrong with the project.
    return null
  }
}
