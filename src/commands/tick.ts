import { existsSync } from 'node:fs'
import type { App } from '../app.ts'
import { AutomatonError, type ExitCode, exitCodes } from '../errors.ts'
import { type TickReport, tickExit } from '../runner/report.ts'
import { tick as runTick } from '../runner/tick.ts'
import { loopPlaces } from '../store/layout.ts'
import { noteScheduled } from '../store/scheduled-log.ts'

/** How a tick ended; `report` is null when it could not be run at all, which a scheduled tick only writes down. */
export interface TickAnswer {
  report: TickReport | null
  exit: ExitCode
  /** Nothing to print: a scheduler would mail it, and only a halt is worth a mail. */
  silent: boolean
}

/** Runs one tick of a loop (contract, section 6). What keeps a scheduled tick from running goes to scheduled.log. */
export async function tick(
  app: App,
  { loop, scheduled }: { loop: string; scheduled: boolean },
): Promise<TickAnswer> {
  const deps = await app.deps()
  try {
    const report = await runTick(loop, deps, { scheduled })
    const exit = tickExit(report)
    if (!scheduled) return { report, exit, silent: false }
    if (exit !== exitCodes.ok && exit !== exitCodes.halted) note(app, loop, reasonOf(report))
    return { report, exit, silent: exit !== exitCodes.halted }
  } catch (error) {
    if (!scheduled || !(error instanceof AutomatonError)) throw error
    note(app, loop, `${error.message}; fix: ${error.fix}`)
    return { report: null, exit: error.exit, silent: true }
  }
}

function reasonOf(report: TickReport): string {
  if (report.outcome === 'refused') {
    const { reason, detail, fix } = report.gate
    return `${reason}: ${detail}; fix: ${fix}`
  }
  if (report.outcome === 'session_failed')
    return `the ${report.role} session failed: ${report.why}; fix: ${report.fix}`
  return report.outcome
}

function note(app: App, loop: string, why: string): void {
  const places = loopPlaces(app.project(), loop)
  if (existsSync(places.dir)) noteScheduled(places, app.clock.iso(), why)
}
