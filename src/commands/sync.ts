import { existsSync } from 'node:fs'
import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import { finishSync, syncParking } from '../runner/begun-sync.ts'
import { distrustWritable } from '../runner/distrust.ts'
import { branchOf } from '../runner/facts.ts'
import { keepWork, putAway } from '../runner/park.ts'
import { readSetting } from '../runner/setting.ts'
import { requireOwnWorktree } from '../runner/strayed.ts'
import { writeAtomic } from '../store/atomic.ts'
import { commit } from '../store/journal.ts'
import type { LoopPlaces, Project } from '../store/layout.ts'
import { readTask } from '../store/tasks.ts'
import { resolveCommit } from '../system/git.ts'
import { removeTree } from '../system/remove.ts'
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
    const before = await finishSync({ places, repo, state })
    const report = { loop, branch: branchOf(loop), base_branch: branch, base, task: taskOf(project, state) }
    const moved = await startAgain({ places, state, repo, base, at })
    // What an earlier try kept that died is said by this one.
    const kept = moved.kept ?? before?.ref ?? null
    return { ...report, kept, kept_folder: moved.folder ?? before?.folder ?? null }
  })
}

function taskOf(project: Project, { current_task, last_task }: LoopState): SyncReport['task'] {
  const name = current_task ?? last_task
  const task = name === null ? null : readTask(project, name)
  return task && 'phase' in task ? { task: task.task, phase: task.phase } : null
}

/**
 * Keeps, writes down, and only then moves: what dies on the way is finished by whoever has the loop next. Without a
 * worktree the next tick makes one from the base branch.
 */
async function startAgain(o: {
  places: LoopPlaces
  state: LoopState
  repo: Repository
  base: string
  at: string
}): Promise<{ kept: string | null; folder: string | null }> {
  const { places, state, repo, base, at } = o
  const parking = syncParking({ places, repo, base, at })
  const record = (kept: string | null, sha: string | null) => {
    const shas = { base_sha: sha, verified_sha: sha, phase_sha: sha }
    const data = { base, kept, was: state.verified_sha }
    commit(
      places,
      state,
      { ...state, ...shas, updated_at: at },
      { type: 'sync', run: null, by: 'human', at, data },
    )
  }
  if (existsSync(places.worktree)) {
    writeAtomic(places.syncBegun, `${at}\n`)
    const kept = await keepWork(parking)
    record(kept, base)
    const folder = await putAway(parking)
    removeTree(places.syncBegun)
    return { kept, folder }
  }
  const tip = await resolveCommit(repo, `refs/heads/${branchOf(places.name)}`)
  const kept = tip && tip !== base ? parking.ref : null
  if (tip && kept) await keep({ repo, ref: kept, commit: tip })
  record(kept, null)
  return { kept, folder: null }
}
