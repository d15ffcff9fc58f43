import { join } from 'node:path'
import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import { loadModels } from '../config/project.ts'
import { errors } from '../errors.ts'
import { applyTransition, artifactOf, checkTransition } from '../machine/phases.ts'
import type { TaskState } from '../machine/task.ts'
import { readBounded } from '../store/atomic.ts'
import { taskPlaces } from '../store/layout.ts'
import { withTasks, writeTask } from '../store/tasks.ts'
import { existingTask, loopWith } from './known-task.ts'
import { keptOf } from './phases.ts'

const artifactLimit = 16 << 20

/** The edge that a task took. */
export interface TransitionReport {
  task: string
  from: Phase
  to: Phase
}

/** Moves a task along one edge as a person. Throws `transition_refused` naming the rule. */
export async function transition(
  app: App,
  o: { task: string; to: Phase; reason: string },
): Promise<TransitionReport> {
  const project = app.project()
  const kept = keptOf(project)
  const models = loadModels(readBounded(join(app.home, 'models.json'), 1 << 20))
  return withTasks(project, () => {
    const task = existingTask(project, o.task)
    const checked = checkTransition({
      task,
      to: o.to,
      actor: 'human',
      artifact: artifact(app, task),
      kept,
      reviewer: {
        session: task.sessions[task.phase] ?? null,
        model: task.models[task.phase] ?? null,
        modelCount: models?.models.length ?? 0,
      },
      reason: o.reason,
      owner: loopWith(project, o.task),
    })
    if (!checked.ok) throw errors.transitionRefused(o.task, checked.rule, checked.why, checked.fix)
    const step = { actor: 'human', at: app.clock.iso(), session: null, model: null, blocked: null }
    writeTask(project, applyTransition(task, { ...step, to: o.to, note: o.reason }))
    return { task: o.task, from: task.phase, to: o.to }
  })
}

function artifact(app: App, task: TaskState): string | null {
  const name = artifactOf(task.phase)
  return name === null
    ? null
    : readBounded(join(taskPlaces(app.project(), task.task).dir, name), artifactLimit)
}
