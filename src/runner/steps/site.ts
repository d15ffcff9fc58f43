import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { errors } from '../../errors.ts'
import type { LoopState } from '../../machine/state.ts'
import { resolveCommit } from '../../system/git.ts'
import type { Repository } from '../../system/repository.ts'
import { snapshot } from '../../system/snapshot.ts'
import { ensureWorktree, isMerged, keep, restoreWorktree } from '../../system/worktree.ts'
import { branchOf } from '../facts.ts'
import type { Scene, Site } from '../scene.ts'

/** Prepares the place that the sessions work in, and records in the state what drift is measured from. */
export async function prepareSite(scene: Scene, state: LoopState): Promise<{ site: Site; state: LoopState }> {
  const { config, repo, deps } = scene
  if (config.blast_radius.worktree && repo) return worktreeSite(scene, repo, state)
  const root = repo?.toplevel ?? deps.project.root
  if (!repo) {
    scene.warnings.push('there is no git repository: changes out of scope are not noticed')
    return { site: { kind: 'plain', root, cwd: deps.project.root, base: null, start: null }, state }
  }
  await using now = await snapshot({ repo, worktree: root, persist: true })
  const site: Site = { kind: 'primary', root, cwd: deps.project.root, base: now.tree, start: now.tree }
  return { site, state: { ...state, phase_sha: state.phase_sha ?? now.tree } }
}

async function worktreeSite(scene: Scene, repo: Repository, state: LoopState) {
  const { config, places } = scene
  const baseTip = await resolveCommit(repo, `refs/heads/${config.blast_radius.base_branch}`)
  if (!baseTip) throw errors.noBaseBranch(config.blast_radius.base_branch, repo.toplevel)
  const from = await startPoint({ scene, repo, state, baseTip })
  await ensureWorktree({ repo, path: places.worktree, branch: branchOf(places.name), base: from.verified })
  if (from.moved && !from.isThere)
    await restoreWorktree({ repo, worktree: places.worktree, commit: from.verified })
  const site: Site = {
    kind: 'worktree',
    root: places.worktree,
    cwd: join(places.worktree, repo.prefix),
    base: from.base,
    start: from.verified,
  }
  const next = { ...state, base_sha: from.base, verified_sha: from.verified }
  return {
    site,
    state: { ...next, phase_sha: from.moved ? from.verified : (state.phase_sha ?? from.verified) },
  }
}

interface StartPoint {
  base: string
  verified: string
  moved: boolean
  /** The branch is there already: a tick that died had moved it, or a person. */
  isThere?: boolean
}

/** Where the loop's branch stands or starts again. A branch that adds nothing to the base starts from the base. */
async function startPoint(o: {
  scene: Scene
  repo: Repository
  state: LoopState
  baseTip: string
}): Promise<StartPoint> {
  const { scene, repo, state, baseTip } = o
  const branch = branchOf(scene.places.name)
  const { base_sha: base, verified_sha: verified } = state
  if (!base || !verified) {
    await keepForeignTip(scene, repo, branch, baseTip)
    return { base: baseTip, verified: baseTip, moved: true }
  }
  if (base === baseTip || !(await isMerged({ repo, base: baseTip, tip: verified, mergeBase: base }))) {
    return { base, verified, moved: false }
  }
  const isThere = verified !== baseTip && (await resolveCommit(repo, `refs/heads/${branch}`)) === baseTip
  if (!isThere && !(await isClean(scene, repo, verified))) return { base, verified, moved: false }
  if (verified !== base) {
    const ref = `refs/automaton/kept/${scene.places.name}/${scene.run}`
    await keep({ repo, ref, commit: verified })
    scene.deps.progress(
      `the branch's work is in ${scene.config.blast_radius.base_branch}: starting from there`,
    )
  }
  return { base: baseTip, verified: baseTip, moved: true, isThere }
}

/** A branch of the loop's name that an earlier loop left is kept under a ref before it starts again. */
async function keepForeignTip(
  scene: Scene,
  repo: Repository,
  branch: string,
  baseTip: string,
): Promise<void> {
  const tip = await resolveCommit(repo, `refs/heads/${branch}`)
  if (!tip || tip === baseTip) return
  const ref = `refs/automaton/kept/${scene.places.name}/${scene.run}`
  await keep({ repo, ref, commit: tip })
  scene.warnings.push(`branch ${branch} was there before this loop; its tip is kept as ${ref}`)
}

/** Moving on would throw away what a failed session left uncommitted; that work stays until it is verified. */
async function isClean({ places }: Scene, repo: Repository, verified: string): Promise<boolean> {
  if (!existsSync(places.worktree)) return true
  await using now = await snapshot({ repo, worktree: places.worktree, persist: false })
  return now.tree === (await resolveCommit(repo, `${verified}^{tree}`, 'tree'))
}
