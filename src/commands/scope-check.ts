import { existsSync } from 'node:fs'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { peek } from '../store/journal.ts'
import { type LoopPlaces, loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { driftOf } from '../system/drift.ts'
import { resolveCommit } from '../system/git.ts'
import { findRepository, type Repository } from '../system/repository.ts'
import { existingTask } from './known-task.ts'

/** Changed files against a task's scope. */
export interface ScopeReport {
  task: string
  scope: string[]
  /** The loop whose worktree was looked at; null: the primary checkout. */
  loop: string | null
  changed: string[]
  outside: string[]
}

/**
 * Compares what has changed with the task's own scope: in the worktree of the loop that has or had the task, since the
 * loop's base; else in the primary checkout, since its last commit. Throws `not_git` and `no_commits`.
 */
export async function scopeCheck(app: App, o: { task: string }): Promise<ScopeReport> {
  const project = app.project()
  const { scope } = existingTask(project, o.task)
  const repo = findRepository(project.root)
  if (!repo) throw errors.notGit(project.root)
  const place = worktreeOf(project, o.task) ?? (await checkout(repo))
  await using drift = await driftOf({ repo, ...place, fileScope: scope, persist: false })
  // Tasks and loops are kept in the checkout too; they are nobody's work on the task.
  const own = `${repo.prefix}.automaton/`
  const isWork = (path: string) => place.loop !== null || !path.startsWith(own)
  const changed = [...new Set(drift.changes.map((change) => change.path))].filter(isWork).sort()
  return { task: o.task, scope, loop: place.loop, changed, outside: drift.outOfScope.filter(isWork) }
}

interface Place {
  loop: string | null
  worktree: string
  base: string
}

function worktreeOf(project: Project, task: string): Place | null {
  const found = listLoops(project)
    .map((name) => ({ places: loopPlaces(project, name), state: peek(loopPlaces(project, name)).state }))
    .filter(({ places }) => existsSync(places.worktree))
  const has = found.find(({ state }) => state?.current_task === task)
  const had = found.find(({ state }) => state?.current_task === null && state.last_task === task)
  const { places, state }: { places?: LoopPlaces; state?: (typeof found)[number]['state'] } = has ?? had ?? {}
  if (!places || !state?.base_sha) return null
  return { loop: places.name, worktree: places.worktree, base: state.base_sha }
}

async function checkout(repo: Repository): Promise<Place> {
  const base = await resolveCommit(repo, 'HEAD')
  if (!base) throw errors.noCommits(repo.toplevel)
  return { loop: null, worktree: repo.toplevel, base }
}
