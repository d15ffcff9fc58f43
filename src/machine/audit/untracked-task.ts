import type { AuditRule } from './types.ts'

/** A task folder without state: loops never work it. */
export const untrackedTask: AuditRule = {
  name: 'untracked-task',
  severity: 'HIGH',
  isWorkable: false,
  find: ({ untracked }) =>
    untracked.map(({ task, path }) => ({
      place: path,
      task,
      path,
      message: `${task}: the folder has no .state; automaton create-task makes one`,
    })),
}
