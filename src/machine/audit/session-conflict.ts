import { isReview } from '../phase-table.ts'
import { eachTask } from './tracked.ts'
import type { AuditRule } from './types.ts'

/** A review by the session that implemented. */
export const sessionConflict: AuditRule = {
  name: 'session-conflict',
  severity: 'HIGH',
  isWorkable: false,
  find: (facts) =>
    eachTask(facts, ({ history }) => {
      const sessions = history.filter(({ from }) => from === 'implement').map(({ session }) => session)
      const implementers = new Set(sessions.filter((session) => session !== null))
      return history.flatMap(({ seq, from, session }) => {
        if (from === null || !isReview(from) || session === null || !implementers.has(session)) return []
        return [{ at: String(seq), message: `session ${session} implemented the task and worked ${from}` }]
      })
    }),
}
