import type { AuditRule } from './types.ts'

/** A task's or a loop's state that cannot be read. */
export const unreadableState: AuditRule = {
  name: 'unreadable-state',
  severity: 'CRITICAL',
  isWorkable: false,
  find: ({ tasks, loops }) => [
    ...tasks
      .filter((task) => task.problem !== null)
      .map(({ task, path, problem }) => ({ place: path, task, path, message: `${path}: ${problem}` })),
    ...loops
      .filter((loop) => loop.problem !== null)
      .map(({ path, problem }) => ({ place: path, task: null, path, message: `${path}: ${problem}` })),
  ],
}
