import { readdirSync } from 'node:fs'
import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import type { TaskState } from '../machine/task.ts'
import { readBounded } from '../store/atomic.ts'
import { taskPlaces } from '../store/layout.ts'
import { listTasks } from '../store/tasks.ts'
import { existingTask, loopWith } from './known-task.ts'

const briefLimit = 1 << 20

/** One task with what lies beside it. */
export interface TaskReport {
  task: TaskState
  /** The text of TASK.md. */
  brief: string
  /** Names of the files in its folder. */
  files: string[]
  /** The loop that has it at hand. */
  loop: string | null
}

/** One line of `task-list`. */
export interface TaskLine {
  task: string
  phase: Phase
  claimed_by: string | null
  loop: string | null
  blocked_reason: string | null
  updated_at: string
}

/** Every task of the project. */
export interface TaskListReport {
  tasks: TaskLine[]
  /** Folders that hold no readable state; `audit` says more. */
  untracked: string[]
}

/** Shows one task. */
export function task(app: App, o: { task: string }): TaskReport {
  const project = app.project()
  const state = existingTask(project, o.task)
  const { dir, brief } = taskPlaces(project, o.task)
  const files = readdirSync(dir).filter((name) => !name.startsWith('.'))
  return {
    task: state,
    brief: readBounded(brief, briefLimit) ?? '',
    files: files.sort(),
    loop: loopWith(project, o.task),
  }
}

/** Lists the tasks, oldest first. */
export function taskList(app: App): TaskListReport {
  const project = app.project()
  const { tracked, names } = listTasks(project)
  const known = new Set(tracked.map((state) => state.task))
  const tasks = tracked.map(({ task, phase, claimed_by, blocked_reason, updated_at }) => ({
    task,
    phase,
    claimed_by,
    loop: loopWith(project, task),
    blocked_reason,
    updated_at,
  }))
  return { tasks, untracked: names.filter((name) => !known.has(name)) }
}
