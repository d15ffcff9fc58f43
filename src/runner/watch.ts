import type { LoopConfig } from '../machine/config.ts'
import { peek } from '../store/journal.ts'
import { type LoopPlaces, loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { readRun } from '../store/run.ts'
import { together } from '../system/git.ts'
import { changedPrimary, primaryRecord } from '../system/primary.ts'
import type { Repository } from '../system/repository.ts'
import { compareRepository, recordRepository, type WatchOptions } from '../system/tripwire.ts'
import { changedBrakes, recordBrakes } from './brakewire.ts'
import { branchOf } from './facts.ts'
import { changedFooting, recordFooting } from './footing.ts'
import { requireBudget } from './over-budget.ts'
import type { Scene, Site, Work } from './scene.ts'
import { runSession, type SessionOutcome, type SessionSpec } from './session.ts'

/** What something was caught at. */
export interface Caught {
  /** `tamper:<what>` names, empty for an honest one. */
  tamper: string[]
  /** Files of the person's checkout that changed meanwhile, where `blast_radius.primary` says to halt. */
  primary: string[]
}

/** A session with what it was caught at. */
export interface WatchedOutcome extends SessionOutcome, Caught {}

/** Runs a session, watched; throws `OverBudget` instead of starting one when a cap is reached. */
export async function watchedSession(spec: SessionSpec): Promise<WatchedOutcome> {
  requireBudget(spec.scene)
  const { result, ...caught } = await watched(spec, () => runSession(spec))
  return { ...result, ...caught }
}

/** Runs what an agent has a hand in between two looks at what it must leave alone: the brakes, the repository, the person's checkout. */
export async function watched<T>(
  spec: Pick<SessionSpec, 'scene' | 'site' | 'work' | 'role' | 'journalist'>,
  run: () => Promise<T>,
): Promise<Caught & { result: T }> {
  const { scene, site, work, role } = spec
  const brakes = readBrakes(scene, work)
  const footing = recordFooting(scene.deps.project, scene.places.name)
  const repository = scene.repo ? await watchRepository(scene, scene.repo, site) : null
  spec.journalist.step(role, { brakes, repository: repository?.before ?? null })
  const result = await run()
  const moved = changedFooting(footing, scene.deps.project)
  const changed = [...moved, ...changedBrakes(brakes, readBrakes(scene, work))]
  const found = (await repository?.look()) ?? { tamper: [], primary: [] }
  const record = spec.journalist.look()?.isKept === false ? ['run.json'] : []
  const tamper = [...changed, ...record, ...found.tamper].map((what) => `tamper:${what}`)
  return { result, tamper, primary: reportPrimary(scene, found.primary) }
}

function readBrakes({ places, deps }: Scene, work: Work) {
  return recordBrakes({ places, project: deps.project, home: deps.home, task: work.task })
}

/** What is watched in a repository around the sessions of a loop. */
export function watchOptions(o: {
  repo: Repository
  places: LoopPlaces
  config: LoopConfig
  verified: string | null
}): WatchOptions {
  return {
    repo: o.repo,
    worktree: o.config.blast_radius.worktree ? o.places.worktree : null,
    branch: branchOf(o.places.name),
    baseBranch: o.config.blast_radius.base_branch,
    verified: o.verified,
  }
}

/** Records the repository now; `look` tells what changed since. */
async function watchRepository(scene: Scene, repo: Repository, site: Site) {
  const isWorktree = site.kind === 'worktree'
  const options = watchOptions({ repo, places: scene.places, config: scene.config, verified: site.start })
  const loops = otherLoops(scene)
  const [before, primary] = await together([
    recordRepository(options),
    isWorktree ? primaryRecord(repo) : null,
  ])
  return {
    before,
    async look() {
      const [after, now] = await together([
        recordRepository(options),
        primary && primaryRecord(repo, primary),
      ])
      const busyLoops = movedSince(loops, otherLoops(scene))
      const tamper = await compareRepository(before, after, { ...options, busyLoops })
      return { tamper, primary: primary && now ? changedPrimary(primary, now) : [] }
    },
  }
}

/** How far each other loop of the project has come, so that its own work is not taken for this session's. */
function otherLoops({ deps, places }: Scene): Map<string, string> {
  const others = listLoops(deps.project).filter((name) => name !== places.name)
  return new Map(
    others.map((name) => {
      const other = loopPlaces(deps.project, name)
      const running = readRun(other) !== null
      return [name, running ? 'running' : `at ${peek(other).state?.seq ?? 'nothing'}`]
    }),
  )
}

function movedSince(before: Map<string, string>, after: Map<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name) || after.get(name) === 'running')
}

/** People edit their own checkout while a loop runs, so this is only said, unless the loop is told to halt for it. */
function reportPrimary(scene: Scene, changed: string[]): string[] {
  if (changed.length === 0) return []
  if (scene.config.blast_radius.primary === 'halt') return changed
  const shown = changed.slice(0, 10).join(', ')
  scene.warnings.push(
    `the primary checkout changed during a session: ${shown}${changed.length > 10 ? ', …' : ''}`,
  )
  return []
}
