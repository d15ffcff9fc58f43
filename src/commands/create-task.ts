import { existsSync } from 'node:fs'
import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { TaskState } from '../machine/task.ts'
import { checkName, taskPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { createTask as create, listTasks, withTasks } from '../store/tasks.ts'
import { keptOf } from './phases.ts'

/** A task that a person wants. */
export interface CreateTaskOptions {
  task: string
  brief: string
  phase: Phase | null
  scope: string[]
  criteria: string[]
  fingerprint: string | null
  design: string | null
}

/** The task, and whether it is new. */
export interface CreateTaskReport {
  created: boolean
  task: TaskState
  /** What to type next. */
  next: string
}

/** Makes a tracked task; an open one with the same fingerprint is that task. Throws `exists` and `usage`. */
export async function createTask(app: App, o: CreateTaskOptions): Promise<CreateTaskReport> {
  const project = app.project()
  const name = checkName('task', o.task)
  if (o.brief.trim() === '') {
    throw errors.usage(
      `empty brief (${name})`,
      'there is nothing to do in it',
      'write the task down in a file',
    )
  }
  const kept = keptOf(project)
  const phase = o.phase ?? 'implement'
  if (!kept.includes(phase) || phase === 'complete' || phase === 'human_intervention') {
    const open = kept.filter((known) => known !== 'complete' && known !== 'human_intervention')
    throw errors.usage(
      `bad phase (${phase})`,
      'a task cannot start there',
      `choose one of ${open.join(', ')}`,
    )
  }
  return withTasks(project, () => {
    const same = listTasks(project).tracked.find(
      (task) =>
        o.fingerprint !== null && task.origin.fingerprint === o.fingerprint && task.phase !== 'complete',
    )
    const next = nextOf(listLoops(project), same ?? { task: name, phase })
    if (same) return { created: false, task: same, next }
    if (existsSync(taskPlaces(project, name).dir)) {
      throw errors.exists('task', name, `automaton task ${name}, or choose another name`)
    }
    const task = create(project, {
      task: name,
      brief: o.brief,
      phase,
      design_ref: o.design,
      scope: o.scope,
      acceptance_criteria: o.criteria,
      origin: { kind: 'human', fingerprint: o.fingerprint },
      actor: 'human',
      at: app.clock.iso(),
    })
    return { created: true, task, next }
  })
}

/** A loop has to be there, and is named when it is the only one. */
function nextOf(loops: readonly string[], { task, phase }: Pick<TaskState, 'task' | 'phase'>): string {
  const [loop, another] = loops
  if (phase === 'design' || phase === 'human_intervention') return `automaton approve --task ${task}`
  if (loop === undefined) return 'automaton create-loop nightly --from-template backlog'
  return another === undefined ? `automaton tick ${loop}` : 'automaton status'
}
