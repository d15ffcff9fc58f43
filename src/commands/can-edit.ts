import { join, relative, resolve, sep } from 'node:path'
import type { App } from '../app.ts'
import { inScope, isProtected } from '../machine/scope.ts'
import { loopPlaces, type Project } from '../store/layout.ts'
import { realDestination as real } from '../system/real-path.ts'

/** Whether a path may be edited, and why. */
export interface CanEditReport {
  path: string
  allowed: boolean
  why: string
}

interface Question {
  app: App
  project: Project
  /** Absolute and without links, down to the deepest folder that exists. */
  path: string
}

/**
 * Whether a path may be edited: by a loop's rules with a loop (or inside a tick), by a task's with a task, and else
 * only whether it lies in the project and outside the protected set. Kept quick: agents ask before every edit.
 */
export async function canEdit(
  app: App,
  o: { path: string; task: string | null; loop: string | null },
): Promise<CanEditReport> {
  const project = app.project()
  const path = real(resolve(app.cwd, o.path))
  const question = { app, project, path }
  const loop = o.loop ?? app.inTick?.loop ?? null
  const byLoop = loop === null ? null : await askLoop(question, loop)
  const byTask = o.task === null ? null : await askTask(question, o.task)
  const refusal = byLoop ?? byTask ?? (loop === null && o.task === null ? askProject(question) : null)
  return { path: o.path, allowed: refusal === null, why: refusal ?? reason(loop, o.task) }
}

function reason(loop: string | null, task: string | null): string {
  if (loop !== null && task !== null) return `in scope of loop ${loop} and task ${task}`
  if (loop !== null) return `in scope of loop ${loop}`
  return task === null ? 'in the project and not protected' : `in scope of task ${task}`
}

/** Each question answers with why not, or null. */
async function askLoop({ app, project, path }: Question, name: string): Promise<string | null> {
  const { existingLoop } = await import('./held.ts')
  const { readBounded } = await import('../store/atomic.ts')
  const { loadLoopConfig } = await import('../config/loop.ts')
  const places = existingLoop(project, name)
  const { config } = loadLoopConfig({ file: places.config, text: readBounded(places.config, 1 << 20) ?? '' })
  if (app.inTick && isSessionFile(app, path, places.worktree)) return null
  const { worktree, file_scope: scope } = config.blast_radius
  if (!worktree) return inScopeOf(project.root, path, scope)
  const inside = below(real(places.worktree), path)
  if (inside === null) return `outside the worktree of loop ${name}`
  const { findRepository } = await import('../system/repository.ts')
  const prefix = findRepository(project.root)?.prefix ?? ''
  return inScopeOf(join(real(places.worktree), prefix), path, scope)
}

/** What the session was told to write. */
function isSessionFile(app: App, path: string, worktree: string): boolean {
  const { AUTOMATON_OUTPUT: output, AUTOMATON_COST_FILE: cost } = app.env
  const folder = real(join(worktree, '.automaton-run'))
  return [output, cost].some(
    (file) => file !== undefined && real(file) === path && below(folder, path) !== null,
  )
}

function inScopeOf(root: string, path: string, scope: readonly string[]): string | null {
  const name = below(root, path)
  if (name === null) return `outside ${root}`
  if (inScope(name, scope)) return null
  return isProtected(name) ? `${name} is protected` : `${name} is outside the loop's file_scope`
}

async function askTask({ app, project, path }: Question, name: string): Promise<string | null> {
  const { existingTask } = await import('./known-task.ts')
  const { artifactOf } = await import('../machine/phases.ts')
  const { taskPlaces } = await import('../store/layout.ts')
  const task = existingTask(project, name)
  const artifact = artifactOf(task.phase)
  if (artifact && path === join(real(taskPlaces(project, name).dir), artifact)) return null
  if (task.claimed_by !== null && task.claimed_by !== app.terminal.describe().user) {
    return `task ${name} is claimed by ${task.claimed_by}`
  }
  if (task.phase !== 'implement') return `task ${name} is in ${task.phase}: only implement changes files`
  const root = worktreeAround(project, path) ?? project.root
  const inside = below(root, path)
  if (inside === null) return 'outside the project'
  if (inScope(inside, task.scope)) return null
  return isProtected(inside) ? `${inside} is protected` : `${inside} is outside the scope of task ${name}`
}

function askProject({ project, path }: Question): string | null {
  const root = worktreeAround(project, path) ?? project.root
  const inside = below(root, path)
  if (inside === null) return 'outside the project'
  return isProtected(inside) ? `${inside} is protected` : null
}

/** The loop's worktree that a path lies in: there it is judged as in the project. */
function worktreeAround(project: Project, path: string): string | null {
  const [loop, worktree] = below(project.loops, path)?.split('/') ?? []
  return loop && worktree === 'worktree' ? loopPlaces(project, loop).worktree : null
}

/** The path below a folder with `/` between names; null when it is not below. */
function below(folder: string, path: string): string | null {
  const inside = relative(folder, path)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside)
    return null
  return inside.split(sep).join('/')
}
