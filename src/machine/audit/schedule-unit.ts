import type { AuditRule } from './types.ts'

/** A running loop whose entry in the system's scheduler is missing, switched off or not as automaton wrote it. */
export const scheduleUnit: AuditRule = {
  name: 'schedule-unit',
  severity: 'LOW',
  isWorkable: false,
  find: ({ loops }) =>
    loops.flatMap(({ loop, path, state, unit }) => {
      if (unit === null || state?.status !== 'running' || !state.schedule.enabled) return []
      const why = [
        unit.installed ? null : 'is missing',
        unit.enabled ? null : 'is switched off',
        unit.drift.length > 0 ? `was changed: ${unit.drift.join('; ')}` : null,
      ].find((reason) => reason !== null)
      if (why === undefined) return []
      const message = `the schedule of loop ${loop} ${why}; automaton install-schedule ${loop} writes it again`
      return [{ place: loop, task: null, path, message }]
    }),
}
