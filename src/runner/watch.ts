import { compareRepository, recordRepository } from '../system/tripwire.ts'
import { changedBrakes, recordBrakes } from './brakewire.ts'
import { branchOf } from './facts.ts'
import type { Scene, Site, Work } from './scene.ts'
import { runSession, type SessionOutcome, type SessionSpec } from './session.ts'

/** A session with what it was caught at: `tamper:<what>` names, empty for an honest one. */
export interface WatchedOutcome extends SessionOutcome {
  tamper: string[]
}

/** Runs a session between two looks at the brakes and at the repository's refs, hooks and configuration. */
export async function watchedSession(spec: SessionSpec): Promise<WatchedOutcome> {
  const { scene, site, work, role } = spec
  const brakes = readBrakes(scene, work)
  const repository = await readRepository(scene, site)
  spec.journalist.step(role, brakes)
  const outcome = await runSession(spec)
  const tamper = changedBrakes(brakes, readBrakes(scene, work))
  if (scene.repo && repository) {
    const after = await readRepository(scene, site)
    if (after) tamper.push(...(await compareRepository(repository, after, repositoryOptions(scene, site))))
  }
  return { ...outcome, tamper: tamper.map((what) => `tamper:${what}`) }
}

function readBrakes({ places, deps }: Scene, work: Work) {
  return recordBrakes({ places, project: deps.project, home: deps.home, task: work.task })
}

async function readRepository(scene: Scene, site: Site) {
  return scene.repo ? recordRepository(repositoryOptions(scene, site)) : null
}

function repositoryOptions({ repo, places, config }: Scene, site: Site) {
  if (!repo) throw new Error('a site without git has no repository to watch')
  const worktree = site.kind === 'worktree' ? places.worktree : null
  return {
    repo,
    worktree,
    branch: branchOf(places.name),
    baseBranch: config.blast_radius.base_branch,
    verified: site.start,
  }
}
