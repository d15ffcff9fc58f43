import type { Phase } from '../../api/work.ts'
import { artifactOf } from '../phase-table.ts'
import { eachTask } from './tracked.ts'
import type { AuditRule } from './types.ts'

/** A phase that was left without the file that leaving it needs. */
export const missingArtifact: AuditRule = {
  name: 'missing-artifact',
  severity: 'HIGH',
  isWorkable: false,
  find: (facts) =>
    eachTask(facts, ({ history }, { files }) => {
      const left = history.flatMap(({ from, to }) =>
        from === null || to === 'human_intervention' || to === 'design' ? [] : [from],
      )
      return [...new Set<Phase>(left)].flatMap((phase) => {
        const name = artifactOf(phase)
        if (name === null || files.includes(name)) return []
        return [{ at: name, message: `${phase} was left, but ${name} is missing or empty` }]
      })
    }),
}
