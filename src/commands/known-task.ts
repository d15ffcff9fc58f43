import { errors } from '../errors.ts'
import type { OtherClaim } from '../machine/claim.ts'
import { nearest } from '../machine/nearest.ts'
import type { TaskState } from '../machine/task.ts'
import { peek } from '../store/journal.ts'
import { loopPlaces, type Project, taskPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { listTasks, readTask } from '../store/tasks.ts'

/** A task that is tracked. Throws `bad_name`, `no_task`, and `task_damaged` for one whose state cannot be read. */
export function existingTask(project: Project, name: string): TaskState {
  const task = readTask(project, name)
  if (!task) throw noTask(project, name)
  if ('problem' in task) throw errors.taskDamaged(taskPlaces(project, name).state, task.problem)
  return task
}

/** What the project's other loops have claimed. */
export function otherClaims(project: Project, loop: string | null): OtherClaim[] {
  return listLoops(project)
    .filter((name) => name !== loop)
    .flatMap((name) => {
      const { state } = peek(loopPlaces(project, name))
      if (!state) return []
      const { status, current_task, claimed_at } = state
      return [{ loop: name, status, current_task, claimed_at }]
    })
}

/** The loop that has claimed a task, or null. */
export function loopWith(project: Project, task: string): string | null {
  const claim = otherClaims(project, null).find((c) => c.current_task === task && c.status !== 'complete')
  return claim?.loop ?? null
}

function noTask(project: Project, name: string) {
  const names = listTasks(project).tracked.map((task) => task.task)
  if (names.length === 0) return errors.noTask(name, 'this project has no tasks')
  const more = names.length > 8 ? ` and ${names.length - 8} more` : ''
  return errors.noTask(name, `this project has ${names.slice(0, 8).join(', ')}${more}`, nearest(name, names))
}
