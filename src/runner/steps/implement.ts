import { outOfScope } from '../../machine/scope.ts'
import type { LoopState } from '../../machine/state.ts'
import { closedError } from '../../system/closed.ts'
import { changesBetween, diffText, driftOf } from '../../system/drift.ts'
import { together } from '../../system/git.ts'
import type { Repository } from '../../system/repository.ts'
import { snapshot } from '../../system/snapshot.ts'
import { commitWorktree, type Head } from '../../system/worktree.ts'
import { branchOf } from '../facts.ts'
import type { Journalist } from '../journalist.ts'
import type { Scene, Site, Work } from '../scene.ts'
import { type WatchedOutcome, watchedSession } from '../watch.ts'

const diffLimit = 1 << 20

/** What the implement session made. */
export interface Made {
  session: WatchedOutcome
  artifact: string
  /** Commit (or tree, in the primary checkout) with the tick's work; null without git or after a failure. */
  result: string | null
  /** The tree of `result`. */
  tree: string | null
  /** Whether anything differs from when the task entered its phase; null when nobody can tell. */
  changed: boolean | null
  outOfScope: string[]
  /** The tick's changes as text. */
  diff: string
}

/** Runs the implement session, checks its changes against the scope, and commits them when they are in it. */
export async function implement(o: {
  scene: Scene
  site: Site
  work: Work
  state: LoopState
  journalist: Journalist
}): Promise<Made> {
  const { scene, site, work, state } = o
  scene.deps.progress(`tick ${scene.tick}: implement ${work.task} (${work.phase})`)
  const spec = { scene, site, work, role: 'implement', values: {}, hint: state.next_hint } as const
  const session = await watchedSession({ ...spec, journalist: o.journalist })
  const artifact = (session.output ?? session.report.finalMessage ?? '').trim()
  const made: Made = { session, artifact, result: null, tree: null, changed: null, outOfScope: [], diff: '' }
  if (session.failure || session.tamper.length > 0) return made
  if (!scene.repo || !site.base || !site.start) return made
  const { repo } = scene
  await using drift = await driftNow(scene, repo, site, site.base)
  for (const name of drift.closed) {
    const { message, fix } = closedError({ worktree: site.root, name, cannot: 'read' })
    scene.warnings.push(`${message}; fix: ${fix}`)
  }
  if (drift.outOfScope.length > 0) return { ...made, outOfScope: drift.outOfScope }
  const result =
    site.kind === 'worktree' ? await commit({ ...o, repo, tree: drift.tree, head: drift.head }) : drift.tree
  const since = state.phase_sha ?? site.start
  const [changes, diff] = await together([
    changesBetween({ repo, from: since, to: drift.tree, place: drift.place }),
    diffText({ repo, from: site.start, to: drift.tree, place: drift.place, maxBytes: diffLimit }),
  ])
  return { ...made, result, tree: drift.tree, changed: changes.length > 0, diff }
}

/** In a person's checkout only the files on the disk count: its HEAD and index were dirty before, as people leave them. */
async function driftNow(scene: Scene, repo: Repository, site: Site, base: string) {
  const fileScope = scene.config.blast_radius.file_scope
  if (site.kind === 'worktree') return driftOf({ repo, worktree: site.root, base, fileScope })
  const now = await snapshot({ repo, worktree: site.root, persist: true })
  try {
    const changes = await changesBetween({ repo, from: base, to: now.tree, place: now.place })
    return { ...now, outOfScope: outOfScope(changes, { fileScope, prefix: repo.prefix }) }
  } catch (error) {
    await now[Symbol.asyncDispose]()
    throw error
  }
}

/** Commits the tree on top of whatever the session itself committed; nothing new makes no commit. */
async function commit(o: {
  scene: Scene
  work: Work
  repo: Repository
  tree: string
  head: Head
}): Promise<string> {
  const { scene, work, repo, tree, head } = o
  const { places, tick } = scene
  if (head.commit === null) throw new Error('the worktree has no commit')
  if (head.tree === tree) return head.commit
  const title = `automaton(${places.name}): ${work.task} ${work.phase} tick ${tick}`
  const trailers = [
    `Automaton-Loop: ${places.name}`,
    `Automaton-Task: ${work.task}`,
    `Automaton-Tick: ${tick}`,
    `Automaton-Run: ${scene.run}`,
  ]
  return commitWorktree({
    repo,
    worktree: places.worktree,
    tree,
    branch: branchOf(places.name),
    parent: head.commit,
    message: `${title}\n\n${trailers.join('\n')}\n`,
    at: scene.deps.clock.iso(),
  })
}
