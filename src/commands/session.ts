import type { App } from '../app.ts'
import type { Project } from '../store/layout.ts'
import { loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { readRun } from '../store/run.ts'
import { ancestors, isAlive } from '../system/process.ts'

/**
 * True when the process, or one above it, belongs to a session that a tick of this project runs: then the caller is
 * an agent, whatever its environment says. A session that has cut its ties to its ancestors is not seen.
 */
export function belongsToSession(app: App, pid: number): boolean {
  const project = projectOf(app)
  if (!project) return false
  const sessions = new Set<number>()
  for (const loop of listLoops(project)) {
    const run = readRun(loopPlaces(project, loop))
    if (!run || 'problem' in run || !run.session) continue
    const { pid: first, start } = run.session
    if (isAlive({ pid: first, start, boot: run.automaton.boot })) sessions.add(first)
  }
  // A shell may have turned into the caller itself.
  return sessions.size > 0 && [pid, ...ancestors(pid)].some((above) => sessions.has(above))
}

function projectOf(app: App): Project | null {
  try {
    return app.project()
  } catch {
    // The verb itself says what is wrong with the project.
    return null
  }
}
