import type { TaskState } from '../task.ts'
import type { AuditFacts, AuditTask, Finding } from './types.ts'

/** Runs a check over every task whose state can be read; a check answers messages by their place inside the task. */
export function eachTask(
  facts: AuditFacts,
  check: (state: TaskState, task: AuditTask) => { at: string; message: string }[],
): Finding[] {
  return facts.tasks.flatMap((task) => {
    if (task.state === null) return []
    return check(task.state, task).map(({ at, message }) => ({
      place: at === '' ? task.task : `${task.task}/${at}`,
      task: task.task,
      path: task.path,
      message: `${task.task}: ${message}`,
    }))
  })
}
