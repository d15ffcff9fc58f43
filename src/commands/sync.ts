import { existsSync } from 'node:fs'
import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import { stamp } from '../runner/discard.ts'
import { distrustWritable } from '../runner/distrust.ts'
import { branchOf } from '../runner/facts.ts'
import { park } from '../runner/park.ts'
import { readSetting } from '../runner/setting.ts'
import { requireOwnWorktree } from '../runner/strayed.ts'
import { commit } from '../store/journal.ts'
import type { LoopPlaces, Project } from '../store/layout.ts'
import { readTask } from '../store/tasks.ts'
import { resolveCommit } from '../system/git.ts'
import type { Repository } from '../system/repository.ts'
import { keep } from '../system/worktree.ts'
import { existingLoop, withLoop } from './held.ts'

/** Where a loop's branch starts from now. */
export interface SyncReport {
  loop: string
  branch: string
  base_branch: string
  base: string
  /** The ref that keeps the old tip; null when there was nothing that the base branch lacks. */
  kept: string | null
  /** The folder with the repositories that lay in the worktree; null when there were none. */
  kept_folder: string | null
  /** The task at hand, or the last one, and where it stays whatever became of its work. */
  task: { task: string; phase: Phase } | null
}

/** Starts a loop's branch again from its base branch and keeps what it had under a ref. Throws `busy` and `not_git`. */
export async function sync(app: App, { loop }: { loop: string }): Promise<SyncReport> {
  const project = app.project()
  const places = existingLoop(project, loop)
  const { config, problem, repo } = readSetting(places, project, app.home)
  if (!config)
    throw problem ?? errors.badConfig(places.config, 'the whole file', 'missing', 'one JSON object')
  if (!config.blast_radius.worktree) {
    throw errors.usage(
      `cannot sync (${loop})`,
      'it works in the primary checkout and has no branch',
      'git status',
    )
  }
  if (!repo) throw errors.notGit(project.root)
  await distrustWritable({ config, repo }, await app.deps())
  const branch = config.blast_radius.base_branch
  const base = await resolveCommit(repo, `refs/heads/${branch}`)
  if (!base) throw errors.noBaseBranch(branch, repo.toplevel)
  return withLoop(app, places, async (state) => {
    const at = app.clock.iso()
    await requireOwnWorktree(places, project)
    const moved = await startAgain({ places, repo, base, at })
    const next: LoopState = { ...state, ...moved.shas, updated_at: at }
    const data = { base, kept: moved.kept, kept_folder: moved.folder, was: state.verified_sha }
    commit(places, state, next, { type: 'sync', run: null, by: 'human', at, data })
    const task = taskOf(project, state)
    const { kept, folder: kept_folder } = moved
    return { loop, branch: branchOf(loop), base_branch: branch, base, kept, kept_folder, task }
  })
}

function taskOf(project: Project, { current_task, last_task }: LoopState): SyncReport['task'] {
  const name = current_task ?? last_task
  const task = name === null ? null : readTask(project, name)
  return task && 'phase' in task ? { task: task.task, phase: task.phase } : null
}

/** Without a worktree the next tick makes one from the base branch. */
async function startAgain(o: { places: LoopPlaces; repo: Repository; base: string; at: string }) {
  const { places, repo, base, at } = o
  const ref = `refs/automaton/kept/${places.name}/${stamp(at)}`
  if (existsSync(places.worktree)) {
    const why = `automaton(${places.name}): kept by sync\n`
    const { ref: kept, folder } = await park({ repo, worktree: places.worktree, back: base, ref, at, why })
    return { kept, folder, shas: { base_sha: base, verified_sha: base, phase_sha: base } }
  }
  const tip = await resolveCommit(repo, `refs/heads/${branchOf(places.name)}`)
  if (tip && tip !== base) await keep({ repo, ref, commit: tip })
  const shas = { base_sha: null, verified_sha: null, phase_sha: null }
  return { kept: tip && tip !== base ? ref : null, folder: null, shas }
}
