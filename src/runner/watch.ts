import { existsSync } from 'node:fs'
import type { LoopConfig } from '../machine/config.ts'
import type { Halt } from '../machine/state.ts'
import { glance } from '../store/journal.ts'
import { type LoopPlaces, loopPlaces } from '../store/layout.ts'
import { isHeld } from '../store/lock.ts'
import { listLoops } from '../store/loops.ts'
import { readRun } from '../store/run.ts'
import { together } from '../system/git.ts'
import { requireNoPipes } from '../system/pipes.ts'
import { changedPrimary, primaryRecord } from '../system/primary.ts'
import type { Repository } from '../system/repository.ts'
import { compareRepository, recordRepository, type WatchOptions } from '../system/tripwire.ts'
import { changedBrakes, recordBrakes } from './brakewire.ts'
import { branchOf } from './facts.ts'
import { changedFooting, recordFooting } from './footing.ts'
import { caughtAt, Halting } from './halt.ts'
import type { OtherLoops, Seen } from './last-look.ts'
import { requireBudget } from './over-budget.ts'
import type { Scene, Site } from './scene.ts'
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

/** What a look is about. */
type Watched = Pick<SessionSpec, 'scene' | 'site' | 'work' | 'journalist'>

/** Runs a session, watched; throws `Halting` instead of starting one when a cap is reached. */
export async function watchedSession(spec: SessionSpec): Promise<WatchedOutcome> {
  requireBudget(spec.scene)
  const { result, ...caught } = await watched(spec, () => runSession(spec))
  return { ...result, ...caught }
}

/**
 * Runs what an agent has a hand in between two looks at what it must leave alone: the brakes, the repository, the
 * person's checkout. Throws `Halting` instead when any of it has changed since the tick's last look.
 */
export async function watched<T>(
  spec: Watched & Pick<SessionSpec, 'role'>,
  run: () => Promise<T>,
): Promise<Caught & { result: T }> {
  const { scene } = spec
  const { looks } = scene
  const last = looks.seen
  const before = await look(spec, last)
  const since = last && caughtAt(scene, await compare(spec, last, before))
  if (since) throw new Halting(since)
  looks.seen = before
  spec.journalist.step(spec.role, { brakes: before.brakes, repository: before.repository })
  const result = await run()
  if (scene.repo) requireNoPipes(scene.repo)
  const after = await look(spec, before)
  looks.seen = after
  return { result, ...(await compare(spec, before, after)) }
}

/** The halt for what has changed since the tick's last look; null for nothing. */
export async function changedSince(o: Watched): Promise<Halt | null> {
  const last = o.scene.looks.seen
  if (!last) return null
  const now = await look(o, last)
  o.scene.looks.seen = now
  return caughtAt(o.scene, await compare(o, last, now))
}

async function look(o: Watched, last: Seen | null): Promise<Seen> {
  const { scene, site, work } = o
  const { places, deps, repo } = scene
  const before = otherLoops(scene)
  const brakes = recordBrakes({ places, project: deps.project, home: deps.home, task: work.task })
  const footing = recordFooting(deps.project, places.name)
  const [repository, primary] = repo
    ? await together([
        recordRepository(optionsOf(scene, repo, site)),
        site.kind === 'worktree' ? primaryRecord(repo, last?.primary ?? {}) : null,
      ])
    : [null, null]
  return { brakes, footing, repository, primary, loops: { before, after: otherLoops(scene) } }
}

async function compare(o: Watched, before: Seen, after: Seen): Promise<Caught> {
  const { scene, site } = o
  const { repo } = scene
  const changed = [
    ...changedFooting(before.footing, scene.deps.project),
    ...changedBrakes(before.brakes, after.brakes),
  ]
  if (o.journalist.look()?.isKept === false) changed.push('run.json')
  if (repo && before.repository && after.repository) {
    const busyLoops = movedSince(before.loops.before, after.loops.after)
    const options = { ...optionsOf(scene, repo, site), busyLoops }
    changed.push(...(await compareRepository(before.repository, after.repository, options)))
  }
  const primary = before.primary && after.primary ? changedPrimary(before.primary, after.primary) : []
  return { tamper: changed.map((what) => `tamper:${what}`), primary: reportPrimary(scene, primary) }
}

function optionsOf({ places, config }: Scene, repo: Repository, site: Site): WatchOptions {
  return watchOptions({ repo, places, config, verified: site.start })
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

/** How far each other loop of the project has come, so that its own work is not taken for this session's. */
function otherLoops({ deps, places }: Scene): OtherLoops {
  const others = listLoops(deps.project).filter((name) => name !== places.name)
  return new Map(
    others.map((name) => {
      const other = loopPlaces(deps.project, name)
      // A record that somebody put there makes no tick: only a process can hold the lock.
      const isBusy = readRun(other) !== null || existsSync(other.syncBegun)
      const running = isBusy && isHeld(other.lock)
      return [name, running ? 'running' : (glance(other)?.seq ?? -1)]
    }),
  )
}

/** The loops that were at work. One whose state is gone, or older than it was, has not come any further by that. */
function movedSince(before: OtherLoops, after: OtherLoops): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => {
    const [was = -2, is = -2] = [before.get(name), after.get(name)]
    return was === 'running' || is === 'running' || is > was
  })
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
