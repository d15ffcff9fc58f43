import { isReview } from '../phase-table.ts'
import { eachTask } from './tracked.ts'
import type { AuditRule } from './types.ts'

/** A review of an open task by the model that implemented it, where `models.json` names another. */
export const modelConflict: AuditRule = {
  name: 'model-conflict',
  severity: 'MEDIUM',
  isWorkable: false,
  find: (facts) =>
    eachTask(facts, ({ phase, history }) => {
      if (facts.modelCount < 2 || phase === 'complete') return []
      let implementer: string | null = null
      return history.flatMap(({ seq, from, model }) => {
        if (from === 'implement') implementer = model
        if (from === null || !isReview(from) || model === null || model !== implementer) return []
        return [{ at: String(seq), message: `model ${model} implemented the task and worked ${from}` }]
      })
    }),
}
