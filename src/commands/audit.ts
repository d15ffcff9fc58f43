import { join } from 'node:path'
import type { Violation } from '../api/work.ts'
import type { App } from '../app.ts'
import { loadModels } from '../config/project.ts'
import { audit as judge } from '../machine/audit.ts'
import { readBounded } from '../store/atomic.ts'
import { gatherAudit } from '../store/audit-facts.ts'
import { keptOf } from './phases.ts'

/** What is wrong in the project, most severe first. */
export interface AuditReport {
  violations: Violation[]
}

/** Runs the audit's rules over the project. Reads only. */
export function audit(app: App): AuditReport {
  const project = app.project()
  const models = loadModels(readBounded(join(app.home, 'models.json'), 1 << 20))
  const facts = gatherAudit({
    project,
    now: app.clock.now(),
    kept: keptOf(project),
    modelCount: models?.models.length ?? 0,
  })
  return { violations: judge(facts) }
}
