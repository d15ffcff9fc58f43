import { resolve, sep } from 'node:path'
import type { Phase, WorkItem } from '../../api/work.ts'
import { audit } from '../../machine/audit.ts'
import { decideClaim } from '../../machine/claim.ts'
import { claimTask } from '../../machine/loop.ts'
import { countModels } from '../../machine/models.ts'
import { applyTransition } from '../../machine/phases.ts'
import type { LoopState } from '../../machine/state.ts'
import type { TaskState } from '../../machine/task.ts'
import { readBounded } from '../../store/atomic.ts'
import { gatherAudit } from '../../store/audit-facts.ts'
import { commit, glance } from '../../store/journal.ts'
import { loopPlaces } from '../../store/layout.ts'
import { listLoops } from '../../store/loops.ts'
import { createTask, listTasks, readTask, taskName, withTasks, writeTask } from '../../store/tasks.ts'
import type { Search, Work } from '../scene.ts'
import { SourceTools } from '../source-tools.ts'

const fileLimit = 4 << 20

/** What came of the search: the work that is now claimed, or whom the candidates belong to. */
export interface Found {
  work: Work | null
  state: LoopState
  passed: { task: string; owner: string }[]
}

/** Keeps the current task while it may be worked, else asks the source; claims before any session. */
export async function findWork(scene: Search, state: LoopState): Promise<Found> {
  const passed: Found['passed'] = []
  const kept = state.current_task ? readTask(scene.deps.project, state.current_task) : null
  if (kept && 'phase' in kept && scene.allowed.includes(kept.phase)) {
    const claimed = await claim(scene, state, kept.task)
    if ('work' in claimed) return { ...claimed, passed }
    passed.push(claimed.passed)
    state = claimed.state
  }
  for (const item of await candidates(scene, state)) {
    if ('close' in item) {
      await close(scene, item)
      continue
    }
    const name = await taskFor(scene, item)
    if (name === null || passed.some((other) => other.task === name)) continue
    const claimed = await claim(scene, state, name)
    if ('work' in claimed) return { ...claimed, passed }
    if (claimed.passed.owner !== '') passed.push(claimed.passed)
    state = claimed.state
  }
  return { work: null, state, passed }
}

async function candidates(scene: Search, state: LoopState): Promise<WorkItem[]> {
  const { deps, places, config, allowed, kept, models } = scene
  const { kind, task, area, options } = config.work_source
  const { project } = deps
  const tasks = listTasks(project).tracked.map(
    ({ task, phase, claimed_by, blocked_reason, design_ref, origin, created_at }) => ({
      task,
      phase,
      claimed_by,
      blocked_reason,
      design_ref,
      origin,
      created_at,
    }),
  )
  await using tools = new SourceTools(scene, state)
  const { run, runOnBase, baseFiles, unmerged } = tools
  return await deps.host.find(kind, options, {
    run,
    runOnBase,
    baseFiles,
    unmerged,
    loop: places.name,
    project: project.root,
    log: deps.progress,
    signal: deps.signal,
    task,
    area,
    phases: allowed,
    tasks,
    audit: async () =>
      audit(gatherAudit({ project, kept, modelCount: countModels(models), now: deps.clock.now() })),
    readProjectFile: async (path) => readInside(project.root, path),
  })
}

/** Puts aside a task that its source no longer asks for, unless somebody works on it. People decide what becomes of it. */
async function close(
  scene: Search,
  { task: name, close: reason }: { task: string; close: string },
): Promise<void> {
  const { deps, places } = scene
  await withTasks(deps.project, () => {
    const task = readTask(deps.project, name)
    if (!task || !('phase' in task) || task.origin.kind !== 'source' || task.claimed_by !== null) return
    if (task.phase === 'complete' || task.phase === 'human_intervention') return
    if (otherClaims(scene).some((other) => other.current_task === name && other.status !== 'complete')) return
    const step = { actor: `loop:${places.name}`, at: deps.clock.iso(), session: null, model: null }
    const next = { ...step, to: 'human_intervention' as const, note: reason, blocked: reason }
    writeTask(deps.project, applyTransition(task, next))
  })
}

/** A project's file as text; null when it is missing, too large, no plain file, or not inside the project. */
function readInside(root: string, path: string): string | null {
  const file = resolve(root, path)
  if (!file.startsWith(`${root}${sep}`)) return null
  try {
    return readBounded(file, fileLimit)
  } catch {
    return null
  }
}

/** The open task of an item, made when there is none yet; null when the item's task is finished or unknown. */
async function taskFor(
  { deps, allowed }: Search,
  item: Exclude<WorkItem, { close: string }>,
): Promise<string | null> {
  if ('task' in item) return item.task
  return withTasks(deps.project, () => {
    const { tracked, names } = listTasks(deps.project)
    const open = tracked.find(
      (task) => task.origin.fingerprint === item.fingerprint && task.phase !== 'complete',
    )
    if (open) return open.task
    const first = allowed.includes('implement') ? 'implement' : allowed[0]
    if (first === undefined) return null
    const at = deps.clock.iso()
    return createTask(deps.project, {
      task: taskName(item.title, names),
      brief: `# ${item.title}\n\n${item.brief}\n`,
      phase: first,
      design_ref: item.design_ref ?? null,
      scope: item.scope ?? [],
      acceptance_criteria: item.acceptance_criteria ?? [],
      origin: { kind: 'source', fingerprint: item.fingerprint },
      actor: 'source',
      at,
    }).task
  })
}

type Claimed =
  | { work: Work; state: LoopState }
  | { passed: { task: string; owner: string }; state: LoopState }

/** Claims one task under the project's lock, so that of any number of loops exactly one gets it. */
async function claim(scene: Search, state: LoopState, name: string): Promise<Claimed> {
  const { deps, places, allowed } = scene
  return withTasks(deps.project, () => {
    const task = readTask(deps.project, name)
    if (!task || !('phase' in task) || !allowed.includes(task.phase)) {
      return { passed: { task: name, owner: '' }, state }
    }
    const decision = decideClaim({
      loop: places.name,
      task: name,
      others: otherClaims(scene),
      claimedBy: task.claimed_by,
      claimedAt: state.current_task === name ? state.claimed_at : null,
    })
    if (!decision.ok)
      return { passed: { task: name, owner: decision.owner }, state: letGo(scene, state, name) }
    return { work: { task: name, phase: task.phase }, state: take(scene, state, task, task.phase) }
  })
}

function take(scene: Search, state: LoopState, task: TaskState, phase: Phase): LoopState {
  if (state.current_task === task.task && state.current_phase === phase) return state
  const at = scene.deps.clock.iso()
  const next = claimTask(state, { task: task.task, phase, at })
  const data = { task: task.task, phase }
  return commit(scene.places, state, next, { type: 'claim', run: scene.run, by: 'tick', at, data })
}

function letGo(scene: Search, state: LoopState, name: string): LoopState {
  if (state.current_task !== name) return state
  const at = scene.deps.clock.iso()
  const next = { ...state, current_task: null, current_phase: null, claimed_at: null, updated_at: at }
  return commit(scene.places, state, next, {
    type: 'release',
    run: scene.run,
    by: 'tick',
    at,
    data: { task: name },
  })
}

function otherClaims({ deps, places }: Search) {
  return listLoops(deps.project)
    .filter((loop) => loop !== places.name)
    .flatMap((loop) => {
      const state = glance(loopPlaces(deps.project, loop))
      if (!state) return []
      const { status, current_task, claimed_at } = state
      return [{ loop, status, current_task, claimed_at }]
    })
}
