import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import { AutomatonError } from '../errors.ts'
import { remainingBudget, remainingIterations } from '../machine/brakes.ts'
import type { Halt, LoopState, LoopStatus } from '../machine/state.ts'
import { brokenSchedule } from '../runner/schedule-record.ts'
import { type LoopPlaces, loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { lastScheduled } from '../store/scheduled-log.ts'
import { listTasks } from '../store/tasks.ts'
import { findRepository } from '../system/repository.ts'
import { existingLoop } from './held.ts'
import { type LoopContext, loopContext } from './loop-context.ts'
import { type LoopFacts, loopFacts } from './loop-facts.ts'
import { type Trend, trendOf } from './loop-list.ts'
import { isBetweenTasks, nextCommands } from './next-commands.ts'

/** The one page about a loop. */
export interface LoopPage {
  loop: string
  /** Null: there is no readable state. */
  status: LoopStatus | null
  description: string
  task: string | null
  phase: Phase | null
  /** The tick at work now; null when none is. */
  running: { tick: number; step: string; since: string; pid: number } | null
  pause_requested: boolean
  halt: Halt | null
  ticks: number
  iteration: number
  max_iterations: number | null
  remaining_iterations: number | null
  /** Since the last approval. */
  spent: { usd: number; tokens: number; wall_seconds: number; reported: boolean }
  remaining_budget_usd: number | null
  last_verdict: LoopState['last_verdict']
  scores: number[]
  trend: Trend | null
  last_tick_at: string | null
  /** When the last tick that worked had settled. */
  last_work_at: string | null
  next_tick_at: string | null
  /** Until when an agent's limit keeps it from ticking; a tick by hand tries all the same. */
  waits_until: string | null
  interval_seconds: number | null
  /** Who ticks it: the scheduler that has its unit (null: none is installed), and whether the unit is on. */
  schedule: { scheduler: string | null; enabled: boolean }
  /** Where sessions may write, and what keeps them there; null when loop.json cannot be read. */
  containment: Containment | null
  /** How much context each role has; null when loop.json cannot be read, or inside a session. */
  context: LoopContext | null
  warnings: string[]
  problems: LoopFacts['problems']
  /** What a person types next, the likeliest first. */
  next: string[]
}

/** What keeps sessions to their work. */
export interface Containment {
  /** T0: what leaves the scope is noticed and halts the loop; T1: a sandbox prevents it. Null inside a session. */
  tier: 'T0' | 'T1' | null
  /** Which sandbox, or why there is none. */
  why: string
  where: 'worktree' | 'checkout' | 'folder without git'
  scope: string[]
}

/** One page, or the project's. */
export interface StatusReport {
  at: string
  project: string
  loops: LoopPage[]
  tasks: { open: number; complete: number; waiting: { task: string; reason: string }[] }
  next: string[]
}

/** What the loops are doing, why they halted, and what to type next. Reads only. */
export async function status(app: App, o: { loop: string | null }): Promise<StatusReport> {
  const project = app.project()
  const names = o.loop === null ? listLoops(project) : [existingLoop(project, o.loop).name]
  const now = app.clock.now()
  const loops: LoopPage[] = []
  for (const name of names) loops.push(await page(app, project, loopFacts(loopPlaces(project, name), now)))
  const { tracked } = listTasks(project)
  const waiting = tracked.filter((task) => task.phase === 'human_intervention' || task.phase === 'design')
  return {
    at: app.clock.iso(),
    project: project.root,
    loops,
    tasks: {
      open: tracked.filter((task) => task.phase !== 'complete').length,
      complete: tracked.filter((task) => task.phase === 'complete').length,
      waiting: waiting.map(({ task, phase, blocked_reason }) => ({ task, reason: blocked_reason ?? phase })),
    },
    next:
      loops.length === 0
        ? ['automaton create-loop nightly --from-template backlog']
        : loops.flatMap((l) => l.next),
  }
}

async function page(app: App, project: Project, facts: LoopFacts): Promise<LoopPage> {
  const { places, state, config, run, isTicking } = facts
  const { held, holes } = await containment(app, project, facts)
  const lost = await lostOf(app, project, facts)
  return {
    loop: places.name,
    status: state?.status ?? null,
    description: config?.description ?? '',
    task: state?.current_task ?? null,
    phase: state?.current_phase ?? null,
    running:
      run && isTicking
        ? { tick: run.tick, step: run.step, since: run.started_at, pid: run.automaton.pid }
        : null,
    pause_requested: facts.isPauseRequested,
    halt: state?.halt ?? null,
    ticks: state?.iteration_count ?? 0,
    iteration: state ? state.iteration_count - state.iteration_base : 0,
    max_iterations: config?.brakes.max_iterations ?? null,
    remaining_iterations: state && config ? remainingIterations(state, config.brakes) : null,
    spent: spent(state),
    remaining_budget_usd: state && config ? remainingBudget(state, config.brakes) : null,
    last_verdict: state?.last_verdict ?? null,
    scores: state?.score_history ?? [],
    trend: trendOf(state?.score_history ?? [], config?.brakes.score_epsilon ?? 0.01),
    last_tick_at: state?.last_tick_at ?? null,
    last_work_at: state?.last_work_at ?? null,
    next_tick_at: facts.nextTickAt,
    waits_until: facts.waitsUntil,
    interval_seconds: config?.schedule.interval_seconds ?? null,
    schedule: { scheduler: state?.schedule.kind ?? null, enabled: state?.schedule.enabled ?? false },
    containment: held,
    context: await loopContext(app, facts),
    warnings: [...warnings(project, facts), ...holes],
    problems: [...facts.problems, ...(lost ? [{ what: lost.why, fix: lost.fix }] : [])],
    next: lost ? [lost.fix] : nextCommands(facts, await hasWork(app, project, facts)),
  }
}

function spent(state: LoopState | null): LoopPage['spent'] {
  if (!state) return { usd: 0, tokens: 0, wall_seconds: 0, reported: true }
  return {
    usd: state.cost.usd - state.cost_base.usd,
    tokens: state.cost.tokens - state.cost_base.tokens,
    wall_seconds: state.wall_seconds - state.wall_base,
    reported: state.cost.reported,
  }
}

/** Whether there is work to take over, where that is a question. When git cannot say, there may be. */
async function hasWork(app: App, project: Project, { state, config }: LoopFacts): Promise<boolean> {
  if (!state || !config || app.inTick) return false
  if (state.status !== 'complete' && !(state.status === 'running' && isBetweenTasks(state))) return false
  const { isUnmerged } = await import('../runner/unmerged.ts')
  try {
    return (await isUnmerged({ repo: findRepository(project.root), config, state })) !== false
  } catch (error) {
    if (error instanceof AutomatonError) return true
    throw error
  }
}

/** What a tick would be refused for because commits are gone; null also when git cannot say. */
async function lostOf(app: App, project: Project, { places, state, config, isTicking }: LoopFacts) {
  if (state?.status !== 'running' || !config?.blast_radius.worktree || app.inTick || isTicking) return null
  const repo = findRepository(project.root)
  if (!repo) return null
  const { lostRefusal } = await import('../runner/moved-branch.ts')
  try {
    return await lostRefusal({ repo, loop: places.name, state })
  } catch (error) {
    if (error instanceof AutomatonError) return null
    throw error
  }
}

/** What keeps the sessions to their work, and what that leaves open. */
async function containment(
  app: App,
  project: Project,
  { places, config }: LoopFacts,
): Promise<{ held: Containment | null; holes: string[] }> {
  if (!config) return { held: null, holes: [] }
  const { file_scope: scope, worktree } = config.blast_radius
  const repo = findRepository(project.root)
  const where = worktree ? 'worktree' : repo ? 'checkout' : 'folder without git'
  // A session may itself be in a sandbox, where trying one out tells nothing.
  if (app.inTick) return { held: { tier: null, why: '', where, scope }, holes: [] }
  const { sandboxOf } = await import('../runner/containment.ts')
  const { sandboxHoles } = await import('../runner/holes.ts')
  const choice = await sandboxOf(config, app)
  const holes = await sandboxHoles({ choice, config, places, repo, deps: await app.deps() })
  const { tier, why } = choice
  return { held: { tier, why, where, scope }, holes: holes.map(({ what, fix }) => `${what}; fix: ${fix}`) }
}

function warnings(project: Project, { places, state, run, isTicking, config }: LoopFacts): string[] {
  const list: string[] = []
  if (run && !isTicking) list.push('the last tick did not finish; the next one cleans up after it')
  if (config?.blast_radius.worktree === false && !hasGit(project)) {
    list.push('there is no git repository: changes out of scope are not noticed')
  }
  const broken = state?.schedule.enabled ? brokenSchedule(places, project) : null
  if (broken !== null) list.push(`${broken}; fix: automaton install-schedule ${places.name}`)
  const missed = lastNote(places, state?.last_tick_at ?? null)
  if (missed) list.push(`the scheduler said: ${missed}`)
  return list
}

function hasGit(project: Project): boolean {
  return findRepository(project.root) !== null
}

/** The last line of `scheduled.log`: why a scheduled tick did not run. */
function lastNote(places: LoopPlaces, lastTickAt: string | null): string | null {
  try {
    const line = lastScheduled(places)
    // Each line starts with its time; what a later tick has got over is history.
    return line !== null && lastTickAt !== null && line < lastTickAt ? null : line
  } catch {
    return 'scheduled.log cannot be read'
  }
}
