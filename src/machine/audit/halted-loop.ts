import type { AuditRule } from './types.ts'

/** A loop that waits for a person's approval. */
export const haltedLoop: AuditRule = {
  name: 'halted-loop',
  severity: 'LOW',
  isWorkable: false,
  find: ({ loops }) =>
    loops.flatMap(({ loop, path, state }) => {
      if (state?.status !== 'halted') return []
      const why = state.halt ? `${state.halt.reason} (${state.halt.detail})` : 'no reason is recorded'
      return [{ place: loop, task: null, path, message: `loop ${loop} is halted: ${why}` }]
    }),
}
