import { eachTask } from './tracked.ts'
import type { AuditRule } from './types.ts'

/** A task whose phase is not where its history ends. */
export const phaseHistoryMismatch: AuditRule = {
  name: 'phase-history-mismatch',
  severity: 'HIGH',
  isWorkable: false,
  find: (facts) =>
    eachTask(facts, ({ phase, history }) => {
      const last = history.at(-1)?.to
      if (last === phase) return []
      return [{ at: '', message: `the task is in ${phase}, but its history ends at ${last ?? 'nothing'}` }]
    }),
}
