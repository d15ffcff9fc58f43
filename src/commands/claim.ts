import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { withTasks, writeTask } from '../store/tasks.ts'
import { existingTask, loopWith } from './known-task.ts'

/** Who has a task after `claim` or `release`. */
export interface PersonClaimReport {
  task: string
  claimed_by: string | null
  /** Who had it before; null when nobody had. */
  claimed_before: string | null
  phase: Phase
  /** The loop that has the task at hand; it lets go at its next tick when a person claims. */
  loop: string | null
}

/** A person takes a task, so that loops keep off it. Throws `claimed` when somebody else has. */
export async function claim(app: App, o: { task: string }): Promise<PersonClaimReport> {
  const project = app.project()
  const { user } = app.terminal.describe()
  return withTasks(project, () => {
    const task = existingTask(project, o.task)
    if (task.phase === 'complete')
      throw errors.taskPhase(o.task, 'claim', task.phase, `automaton task ${o.task}`)
    const other = task.claimed_by
    if (other !== null && other !== user) throw errors.claimedByOther(o.task, other)
    if (other === null) writeTask(project, { ...task, claimed_by: user, updated_at: app.clock.iso() })
    return {
      task: o.task,
      claimed_by: user,
      claimed_before: other,
      phase: task.phase,
      loop: loopWith(project, o.task),
    }
  })
}

/** Gives a task back, whoever has it. A task that nobody claimed stays as it is. */
export async function release(app: App, o: { task: string }): Promise<PersonClaimReport> {
  const project = app.project()
  return withTasks(project, () => {
    const task = existingTask(project, o.task)
    const { phase, claimed_by: claimed_before } = task
    if (claimed_before !== null)
      writeTask(project, { ...task, claimed_by: null, updated_at: app.clock.iso() })
    return { task: o.task, claimed_by: null, claimed_before, phase, loop: loopWith(project, o.task) }
  })
}
