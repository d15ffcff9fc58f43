import type { App } from '../app.ts'
import { AutomatonError } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import type { Deps } from '../runner/deps.ts'
import { refusalOf } from '../runner/facts.ts'
import { lostRefusal } from '../runner/moved-branch.ts'
import { readSetting, type Setting } from '../runner/setting.ts'
import { loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { sharedFileSystem } from '../system/disk.ts'
import { unsafeVariable } from '../system/environment.ts'
import { oldestGit, requireGit } from '../system/git.ts'
import { requireNoPipes } from '../system/pipes.ts'
import { findRepository, type Repository } from '../system/repository.ts'
import { currentBranch } from './base-branch.ts'
import { scheduleFindings } from './doctor-schedule.ts'
import { filterWords, findFilters } from './filters.ts'
import { haltWords } from './halt-words.ts'
import { type FoundAgent, findAgents } from './look-around.ts'
import { type LoopFacts, loopFacts } from './loop-facts.ts'
import { contextFindings, memoryFinding } from './memory-findings.ts'
import { brokenPlugins } from './plugins.ts'

/** One thing that was looked at. `bad` needs doing, `hint` may be as wanted. */
export interface Finding {
  what: string
  level: 'good' | 'hint' | 'bad'
  detail: string
  /** One thing to do; empty when there is nothing. */
  fix: string
}

/** Everything that was looked at, in order. */
export interface DoctorReport {
  ok: boolean
  findings: Finding[]
}

/**
 * Looks at what a tick will need. Changes nothing. `asScheduler`: with the environment that scheduled ticks have, and
 * the agents are started besides.
 */
export async function doctor(app: App, o: { asScheduler: boolean }): Promise<DoctorReport> {
  const other = o.asScheduler ? await import('./doctor-as-scheduler.ts') : null
  if (other && !other.isAsScheduler(app)) return other.asScheduler(app)
  const project = projectOrHint(app)
  const isHint = 'level' in project
  const findings = [
    environment(app),
    ...(await gitFindings(isHint ? null : project)),
    ...(isHint ? [project] : sharedDisk(project)),
    await harnesses(app),
    ...(await plugins(app)),
    await sandbox(app),
    await memoryFinding(app, isHint ? null : project),
    ...(isHint ? [] : await loopFindings(app, project)),
    ...(isHint ? [] : ((await other?.agentFindings(app)) ?? [])),
  ] satisfies Finding[]
  return { ok: findings.every((finding) => finding.level !== 'bad'), findings }
}

/** Outside of a project the machine can be looked at all the same. */
function projectOrHint(app: App): Project | Finding {
  try {
    return app.project()
  } catch (error) {
    if (!(error instanceof AutomatonError) || error.code !== 'no_project') throw error
    return { what: 'project', level: 'hint', detail: error.message, fix: error.fix }
  }
}

/** Locks are only as good as the file system that they are on. */
function sharedDisk({ root }: Project): Finding[] {
  const kind = sharedFileSystem(root)
  if (kind === null) return []
  const detail = `the project lies on a shared file system (${kind}): two ticks may not see each other's lock`
  return [{ what: 'disk', level: 'hint', detail, fix: 'work in a clone on a disk of this machine' }]
}

/** What sessions of this machine are locked in by, for loops that do not turn it off. */
async function sandbox(app: App): Promise<Finding> {
  const { findSandbox, sandboxFix } = await import('../system/sandbox/tier.ts')
  const { tier, why } = await findSandbox({ path: app.env.PATH ?? '', mode: 'auto' })
  if (tier === 'T1') return { what: 'sandbox', level: 'good', detail: `T1: ${why}`, fix: '' }
  const detail = `T0: changes out of scope are noticed, not prevented (${why})`
  return { what: 'sandbox', level: 'hint', detail, fix: sandboxFix }
}

type Looked = { repository: Repository | null } | { problem: AutomatonError }

function repositoryOf(project: Project): Looked {
  try {
    const repository = findRepository(project.root)
    if (repository) requireNoPipes(repository)
    return { repository }
  } catch (error) {
    if (error instanceof AutomatonError) return { problem: error }
    throw error
  }
}

function environment(app: App): Finding {
  const name = unsafeVariable(app.env)
  if (name === null) return good('environment', 'no variable loads code into automaton')
  return {
    what: 'environment',
    level: 'bad',
    detail: `${name} is set: tick and approve refuse`,
    fix: `unset ${name}`,
  }
}

async function gitFindings(project: Project | null): Promise<Finding[]> {
  const looked: Looked = project ? repositoryOf(project) : { repository: null }
  const found: Finding[] = []
  try {
    found.push(good('git', `version ${requireGit()} (needs ${oldestGit})`))
  } catch (error) {
    found.push(bad('git', error))
  }
  if ('problem' in looked) return [...found, bad('repository', looked.problem)]
  const { repository } = looked
  const { trySimpleGit } = await import('../system/simple-git.ts')
  const library = await trySimpleGit(repository?.gitDir ?? null)
  const detail = library.loads ? 'loads' : 'does not load here; git does its work'
  found.push({ what: 'simple-git', level: library.loads ? 'good' : 'hint', detail, fix: '' })
  if (!project) return found
  if (!repository) {
    const detail = `${project.root} is not in a git repository: only --no-worktree loops run`
    return [...found, { what: 'repository', level: 'hint', detail, fix: 'git init' }]
  }
  const branch = library.branch ?? (found[0]?.level === 'good' ? await currentBranch(repository) : null)
  const where = good('repository', `${repository.toplevel}, ${branch ? `on ${branch}` : 'on no branch'}`)
  return [...found, where, ...(await filterFinding(repository))]
}

/** Only a hint: a loop whose scope has no such file works as anywhere. */
async function filterFinding(repository: Repository): Promise<Finding[]> {
  const filters = await findFilters(repository)
  if (filters.length === 0) return []
  const fix = 'keep such files out of blast_radius.file_scope'
  return [{ what: 'filters', level: 'hint', detail: filterWords(filters), fix }]
}

/** The agents that a loop could use; that no plugin could be loaded is said here too. */
async function harnesses(app: App): Promise<Finding> {
  try {
    const { supported, others } = findAgents(await app.host(), app.env.PATH ?? '')
    const names = (agents: FoundAgent[]) => agents.map(({ name, program }) => `${name} (${program})`)
    const more =
      others.length > 0 ? [`not supported yet, but for harness.command: ${names(others).join(', ')}`] : []
    if (supported.length > 0) return good('harnesses', [names(supported).join(', '), ...more].join('; '))
    const fix = 'install opencode, or set harness.command in loop.json'
    return { what: 'harnesses', level: 'hint', detail: more[0] ?? 'no known coding agent is on PATH', fix }
  } catch (error) {
    return bad('plugins', error)
  }
}

/** A user's plugin that cannot be used: only a hint, since a loop that names it is refused for it below. */
async function plugins(app: App): Promise<Finding[]> {
  const broken = await brokenPlugins(app)
  return [...broken.values()].map(({ message, fix }) => ({
    what: 'plugins',
    level: 'hint',
    detail: message,
    fix,
  }))
}

async function loopFindings(app: App, project: Project): Promise<Finding[]> {
  const found: Finding[] = []
  for (const name of listLoops(project)) {
    const facts = loopFacts(loopPlaces(project, name), app.clock.now())
    const findings = [...stateFindings(facts), ...(await refusal(app, facts))]
    found.push(
      ...(findings.length > 0 ? findings : [good(`loop ${name}`, facts.state?.status ?? 'untracked')]),
      ...(await scheduleFindings(app, facts)),
    )
  }
  return found
}

function stateFindings({ places, state, problems, run, isTicking }: LoopFacts): Finding[] {
  const what = `loop ${places.name}`
  const found: Finding[] = problems.map(({ what: detail, fix }) => ({
    what,
    level: detail.startsWith('unknown key') ? 'hint' : 'bad',
    detail,
    fix,
  }))
  if (!state && problems.length === 0) {
    found.push({ what, level: 'bad', detail: 'it has no state', fix: `automaton repair ${places.name}` })
  }
  if (state?.halt) {
    const detail = `halted: ${state.halt.reason} (${haltWords(state.halt)})`
    found.push({ what, level: 'bad', detail, fix: `automaton status ${places.name}` })
  }
  if (run && !isTicking) {
    const detail = 'its last tick did not finish'
    found.push({ what, level: 'hint', detail, fix: `automaton tick ${places.name}` })
  }
  return found
}

/** What the gate would refuse a tick for. A loop.json that cannot be read has been said already. */
async function refusal(app: App, facts: LoopFacts): Promise<Finding[]> {
  const { places, config, state } = facts
  if (!config || state?.status === 'complete') return []
  const what = `loop ${places.name}`
  try {
    const deps = await app.deps()
    const setting = readSetting(places, deps.project, app.home)
    const found = await refusalOf({ places, deps, setting, state })
    const lost = found ?? (await lostOf({ loop: places.name, setting, state }))
    if (lost) return [{ what, level: 'bad', detail: lost.why, fix: lost.fix }]
    return [...(await holesOf(facts, setting, deps)), ...(await contextFindings(app, facts))]
  } catch (error) {
    return [bad(what, error)]
  }
}

/** What the loop's sandbox leaves open. */
async function holesOf({ places, config }: LoopFacts, { repo }: Setting, deps: Deps): Promise<Finding[]> {
  if (!config) return []
  const { sandboxOf } = await import('../runner/containment.ts')
  const { sandboxHoles } = await import('../runner/holes.ts')
  const choice = await sandboxOf(config, deps)
  const holes = await sandboxHoles({ choice, config, places, repo, deps })
  return holes.map(({ what, fix }) => ({ what: `loop ${places.name}`, level: 'hint', detail: what, fix }))
}

async function lostOf(o: { loop: string; setting: Setting; state: LoopState | null }) {
  const { loop, setting, state } = o
  if (!setting.repo || !setting.config?.blast_radius.worktree || !state) return null
  return lostRefusal({ repo: setting.repo, loop, state })
}

function good(what: string, detail: string): Finding {
  return { what, level: 'good', detail, fix: '' }
}

function bad(what: string, error: unknown): Finding {
  if (error instanceof AutomatonError) return { what, level: 'bad', detail: error.message, fix: error.fix }
  throw error
}
