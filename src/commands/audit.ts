import { join } from 'node:path'
import type { UnitState } from '../api/scheduler.ts'
import type { Violation } from '../api/work.ts'
import type { App } from '../app.ts'
import { loadModels } from '../config/project.ts'
import { AutomatonError } from '../errors.ts'
import { audit as judge } from '../machine/audit.ts'
import { readBounded } from '../store/atomic.ts'
import { gatherAudit } from '../store/audit-facts.ts'
import { salvageState } from '../store/journal.ts'
import { loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { keptOf } from './phases.ts'

/** What is wrong in the project, most severe first. */
export interface AuditReport {
  violations: Violation[]
}

/** Runs the audit's rules over the project. Reads only. */
export async function audit(app: App): Promise<AuditReport> {
  const project = app.project()
  const models = loadModels(readBounded(join(app.home, 'models.json'), 1 << 20))
  const facts = gatherAudit({
    project,
    now: app.clock.now(),
    kept: keptOf(project),
    modelCount: models?.models.length ?? 0,
    units: await units(app),
  })
  return { violations: judge(facts) }
}

/** The units of the loops that have a schedule. Inside a session nobody asks: a sandbox may hide the scheduler from it. */
async function units(app: App): Promise<Map<string, UnitState>> {
  const found = new Map<string, UnitState>()
  const project = app.project()
  const scheduled = listLoops(project).flatMap((name) => {
    const places = loopPlaces(project, name)
    const state = salvageState(places)
    return state?.schedule.enabled ? [{ places, state }] : []
  })
  if (app.inTick || scheduled.length === 0) return found
  const [{ checkUnit }, { readSetting }] = await Promise.all([
    import('../runner/unit-check.ts'),
    import('../runner/setting.ts'),
  ])
  const deps = await app.deps()
  for (const { places, state } of scheduled) {
    const { config } = readSetting(places, project, app.home)
    try {
      const unit = await checkUnit(deps, { places, state, config })
      if (unit) found.set(places.name, unit)
    } catch (error) {
      if (!(error instanceof AutomatonError)) throw error
      app.progress(`the schedule of loop ${places.name} could not be looked at: ${error.message}`)
    }
  }
  return found
}
