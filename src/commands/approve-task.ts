import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { applyTransition, checkApproval } from '../machine/phases.ts'
import { withTasks, writeTask } from '../store/tasks.ts'
import { existingTask } from './known-task.ts'
import { keptOf } from './phases.ts'

/** Where a task went by a person's approval. */
export interface ApproveTaskReport {
  task: string
  from: Phase
  to: Phase
}

/** Lets a task leave `human_intervention`, or start from `design`. Throws `transition_refused`. */
export async function approveTask(
  app: App,
  o: { task: string; to: Phase | null; note: string | null },
): Promise<ApproveTaskReport> {
  const project = app.project()
  const kept = keptOf(project)
  return withTasks(project, async () => {
    await app.permit()
    const task = existingTask(project, o.task)
    const checked = checkApproval({ task, to: o.to, kept })
    if (!checked.ok) throw errors.transitionRefused(o.task, checked.rule, checked.why, checked.fix)
    const step = { actor: 'human', at: app.clock.iso(), session: null, model: null, blocked: null }
    writeTask(project, applyTransition(task, { ...step, to: checked.to, note: o.note ?? 'approved' }))
    return { task: o.task, from: task.phase, to: checked.to }
  })
}
