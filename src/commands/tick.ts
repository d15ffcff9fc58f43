import { existsSync } from 'node:fs'
import type { App } from '../app.ts'
import { AutomatonError, type ExitCode, exitCodes } from '../errors.ts'
import { type TickReport, tickExit } from '../runner/report.ts'
import { readSetting } from '../runner/setting.ts'
import { tick as runTick } from '../runner/tick.ts'
import { loopPlaces, type Project } from '../store/layout.ts'
import { noteScheduled } from '../store/scheduled-log.ts'
import { mergeOf } from './next-commands.ts'
import { type Waiting, waitingTasks } from './waiting.ts'

/** How a tick ended; `report` is null when it could not be run at all, which a scheduled tick only writes down. */
export interface TickAnswer {
  report: TickReport | null
  /** How the person takes over the work of a task that is done now; null when there is none to take. */
  merge: string | null
  /** Why there was no work: the open tasks that this loop leaves alone. Empty for a tick that worked. */
  waiting: Waiting[]
  exit: ExitCode
  /** Nothing to print: a scheduler would mail it, and only a halt is worth a mail. */
  silent: boolean
}

/** Runs one tick of a loop (contract, section 6). What keeps a scheduled tick from running goes to scheduled.log. */
export async function tick(
  app: App,
  { loop, scheduled }: { loop: string; scheduled: boolean },
): Promise<TickAnswer> {
  try {
    const deps = { ...(await app.deps()), byScheduler: scheduled }
    const report = await runTick(loop, deps, { scheduled })
    const exit = tickExit(report)
    const answer = { report, exit, ...around(app, loop, report) }
    if (!scheduled) return { ...answer, silent: false }
    if (exit !== exitCodes.ok && exit !== exitCodes.halted) note(app, loop, reasonOf(report))
    return { ...answer, silent: exit !== exitCodes.halted }
  } catch (error) {
    if (!scheduled || !(error instanceof AutomatonError)) throw error
    note(app, loop, `${error.message}; fix: ${error.fix}`)
    return { report: null, merge: null, waiting: [], exit: error.exit, silent: true }
  }
}

/** What a person needs to know besides. */
function around(app: App, loop: string, report: TickReport): Pick<TickAnswer, 'merge' | 'waiting'> {
  const isDone = report.outcome === 'worked' && report.to === 'complete'
  const { config } = isDone ? readSetting(loopPlaces(app.project(), loop), app.project(), app.home) : {}
  return {
    merge: (config && mergeOf(loop, config)[0]) ?? null,
    waiting: report.outcome === 'no_work' ? waitingTasks(app, loop) : [],
  }
}

function reasonOf(report: TickReport): string {
  if (report.outcome === 'refused') {
    const { reason, detail, fix } = report.gate
    return `${reason}: ${detail}; fix: ${fix}`
  }
  if (report.outcome === 'session_failed')
    return `the ${report.role} session failed: ${report.why}; fix: automaton log ${report.loop} --tick ${report.tick}`
  return report.outcome
}

/** Where there is no project or no loop, there is no log either. */
function note(app: App, loop: string, why: string): void {
  const project = projectOrNull(app)
  const places = project && loopPlaces(project, loop)
  if (places && existsSync(places.dir)) noteScheduled(places, app.clock.iso(), why)
}

function projectOrNull(app: App): Project | null {
  try {
    return app.project()
  } catch (error) {
    if (error instanceof AutomatonError) return null
    throw error
  }
}
