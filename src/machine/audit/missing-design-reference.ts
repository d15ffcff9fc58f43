import { eachTask } from './tracked.ts'
import type { AuditRule } from './types.ts'

/** A task whose design is gone, or that left the design phase without one. */
export const missingDesignReference: AuditRule = {
  name: 'missing-design-reference',
  severity: 'MEDIUM',
  isWorkable: false,
  find: (facts) =>
    eachTask(facts, ({ design_ref, history }, { hasDesign }) => {
      if (design_ref !== null) {
        return hasDesign === false ? [{ at: '', message: `its design ${design_ref} does not exist` }] : []
      }
      const leftDesign = history.some(({ from, to }) => from === 'design' && to !== 'human_intervention')
      return leftDesign ? [{ at: '', message: 'it left design without a design reference' }] : []
    }),
}
