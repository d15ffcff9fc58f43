import { eachTask } from './tracked.ts'
import type { AuditRule } from './types.ts'

const days = 14

/** An open task that nobody touched for 14 days. */
export const staleTask: AuditRule = {
  name: 'stale-task',
  severity: 'LOW',
  isWorkable: true,
  find: (facts) =>
    eachTask(facts, ({ phase, updated_at }) => {
      const isOld = facts.now.getTime() - Date.parse(updated_at) > days * 86_400_000
      if (phase === 'complete' || !isOld) return []
      return [{ at: '', message: `in ${phase} since ${updated_at}, more than ${days} days` }]
    }),
}
