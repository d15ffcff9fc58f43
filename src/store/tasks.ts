import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Phase } from '../api/work.ts'
import { errors } from '../errors.ts'
import type { TaskState } from '../machine/task.ts'
import { ensureFolder, plainReason, readBounded, readBytes, writeAtomic } from './atomic.ts'
import { isName, type Project, taskPlaces } from './layout.ts'
import { acquire } from './lock.ts'
import { foldersIn } from './loops.ts'
import { firstIssue, TaskStateSchema } from './schema.ts'

/** A task's state; a problem when it cannot be read; null when the task is untracked or missing. Throws `bad_name`. */
export function readTask(project: Project, name: string): TaskState | { problem: string } | null {
  const places = taskPlaces(project, name)
  try {
    const bytes = readBytes(places.state, stateLimit)
    if (!bytes) return null
    const read = v.safeParse(TaskStateSchema, JSON.parse(bytes.toString('utf8')))
    if (!read.success) return { problem: firstIssue(read.issues) }
    return read.output.task === name ? read.output : { problem: `it is the state of ${read.output.task}` }
  } catch (error) {
    return { problem: plainReason(error) }
  }
}

/** Every task folder of a project. */
export interface TaskList {
  /** Oldest first. */
  tracked: TaskState[]
  /** Folders without a state. */
  untracked: string[]
  unreadable: { task: string; problem: string }[]
  /** All of the above, by name. */
  names: string[]
}

/** Lists a project's tasks. */
export function listTasks(project: Project): TaskList {
  const names = foldersIn(project.tasks).sort()
  const list: TaskList = { tracked: [], untracked: [], unreadable: [], names }
  for (const task of names) {
    const state = readTask(project, task)
    if (state === null) list.untracked.push(task)
    else if ('problem' in state) list.unreadable.push({ task, problem: state.problem })
    else list.tracked.push(state)
  }
  list.tracked.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
  return list
}

/** What a new task starts with. */
export interface NewTask {
  task: string
  /** The text of `TASK.md`. */
  brief: string
  phase: Phase
  design_ref: string | null
  scope: string[]
  acceptance_criteria: string[]
  origin: TaskState['origin']
  /** Who made it: `human`, `agent`, `source` or `loop:<name>`. */
  actor: string
  at: string
}

/**
 * Makes a tracked task; a folder without a state is taken over. Throws `exists` for a task that has one, and for
 * a folder whose `TASK.md` says something else. The caller holds {@link withTasks}.
 */
export function createTask(project: Project, task: NewTask): TaskState {
  const { brief, actor, at, ...rest } = task
  const places = taskPlaces(project, task.task)
  if (lstatSync(places.state, { throwIfNoEntry: false })) {
    throw errors.exists('task', task.task, `choose another name, or: automaton task ${task.task}`)
  }
  ensureFolder(places.dir)
  const there = readBounded(places.brief, briefLimit)
  if (there !== null && there !== brief) {
    throw errors.exists(
      'file',
      places.brief,
      `use it: automaton create-task ${task.task} --brief ${places.brief}`,
    )
  }
  if (there === null) writeAtomic(places.brief, brief)
  const first = { seq: 1, at, from: null, to: task.phase, actor, session: null, model: null, note: 'created' }
  const state: TaskState = {
    schema_version: 2,
    ...rest,
    previous_phase: null,
    blocked_reason: null,
    claimed_by: null,
    sessions: {},
    models: {},
    history: [first],
    created_at: at,
    updated_at: at,
  }
  writeTask(project, state)
  return state
}

/** Writes a task's state. The caller holds {@link withTasks}. */
export function writeTask(project: Project, state: TaskState): void {
  const checked = v.safeParse(TaskStateSchema, state)
  if (!checked.success) throw new Error(`a task that nobody could read: ${firstIssue(checked.issues)}`)
  writeAtomic(taskPlaces(project, state.task).state, `${JSON.stringify(checked.output, null, 2)}\n`)
}

/**
 * Runs something while nobody else changes the project's tasks or claims one. Throws `busy` after `waitMs` of waiting, by
 * default five seconds.
 */
export async function withTasks<T>(
  project: Project,
  run: () => T | Promise<T>,
  { waitMs = 5000 } = {},
): Promise<T> {
  ensureFolder(project.cache)
  // The cache holds other locks, so its folder is not locked with this one.
  const lock = await acquire(join(project.cache, 'tasks.lock'), { waitMs, folder: false })
  if (lock.busy) throw errors.busy('tasks', lock.holder)
  await using _ = lock
  return await run()
}

/** The text of a file in the task's folder, such as `CODE_REVIEW.md`; null when there is none. Throws `read_failed` for what is no plain file of at most `maxBytes`. */
export function readArtifact(
  project: Project,
  task: string,
  file: { name: string; maxBytes: number },
): string | null {
  return readBounded(join(taskPlaces(project, task).dir, file.name), file.maxBytes)
}

/** A name for a task, made from its title; never one of `taken`. */
export function taskName(title: string, taken: Iterable<string>): string {
  const used = new Set(taken)
  const words =
    title
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  let slug = ''
  for (const word of words) {
    const longer = slug === '' ? word.slice(0, titleLength) : `${slug}-${word}`
    if (longer.length > titleLength) break
    slug = longer
  }
  if (!isName(slug)) slug = slug === '' ? 'task' : `task-${slug}`
  for (let n = 1; ; n++) {
    const name = n === 1 ? slug : `${slug}-${n}`
    if (!used.has(name)) return name
  }
}

const stateLimit = 1 << 24
const briefLimit = 1 << 20
/** Characters; leaves room for a number behind. */
const titleLength = 48
