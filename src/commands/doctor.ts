import { existsSync } from 'node:fs'
import type { App } from '../app.ts'
import { AutomatonError } from '../errors.ts'
import { loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { unsafeVariable } from '../system/environment.ts'
import { oldestGit, requireGit, resolveCommit } from '../system/git.ts'
import { which } from '../system/process.ts'
import { findRepository, type Repository } from '../system/repository.ts'
import { findHarnesses } from './look-around.ts'
import { type LoopFacts, loopFacts } from './loop-facts.ts'

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

/** Looks at what a tick will need. Reads only. */
export async function doctor(app: App): Promise<DoctorReport> {
  const project = app.project()
  const repo = repositoryOf(project)
  const findings = [
    environment(app),
    ...gitFindings(project, repo),
    harnesses(app),
    {
      what: 'sandbox',
      level: 'hint',
      detail: 'tier T0: changes out of scope are noticed, not prevented',
      fix: '',
    },
    ...(await pluginFindings(app)),
    ...(await loopFindings(app, project, 'problem' in repo ? null : repo.repository)),
  ] satisfies Finding[]
  return { ok: findings.every((finding) => finding.level !== 'bad'), findings }
}

type Looked = { repository: Repository | null } | { problem: AutomatonError }

function repositoryOf(project: Project): Looked {
  try {
    return { repository: findRepository(project.root) }
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

function gitFindings(project: Project, looked: Looked): Finding[] {
  const found: Finding[] = []
  try {
    found.push(good('git', `version ${requireGit()} (needs ${oldestGit})`))
  } catch (error) {
    found.push(bad('git', error))
  }
  if ('problem' in looked) return [...found, bad('repository', looked.problem)]
  if (looked.repository) return [...found, good('repository', looked.repository.toplevel)]
  const detail = `${project.root} is not in a git repository: only --no-worktree loops run`
  return [...found, { what: 'repository', level: 'hint', detail, fix: 'git init' }]
}

function harnesses(app: App): Finding {
  const found = findHarnesses(app.env.PATH ?? '')
  if (found.length > 0)
    return good('harnesses', found.map(({ name, program }) => `${name} (${program})`).join(', '))
  const fix = 'install a coding agent such as opencode, or set harness.command in loop.json'
  return { what: 'harnesses', level: 'hint', detail: 'no known coding agent is on PATH', fix }
}

async function pluginFindings(app: App): Promise<Finding[]> {
  try {
    await app.host()
    return []
  } catch (error) {
    return [bad('plugins', error)]
  }
}

async function loopFindings(app: App, project: Project, repo: Repository | null): Promise<Finding[]> {
  const found: Finding[] = []
  for (const name of listLoops(project)) {
    const facts = loopFacts(loopPlaces(project, name), app.clock.now())
    const findings = [...stateFindings(facts), ...(await needs(app, facts, repo))]
    found.push(
      ...(findings.length > 0 ? findings : [good(`loop ${name}`, facts.state?.status ?? 'untracked')]),
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
    const detail = `halted: ${state.halt.reason} (${state.halt.detail})`
    found.push({ what, level: 'bad', detail, fix: `automaton status ${places.name}` })
  }
  if (run && !isTicking) {
    const detail = 'its last tick did not finish'
    found.push({ what, level: 'hint', detail, fix: `automaton tick ${places.name}` })
  }
  return found
}

/** What the gate would refuse a tick for. */
async function needs(
  app: App,
  { places, config, state }: LoopFacts,
  repo: Repository | null,
): Promise<Finding[]> {
  if (!config || state?.status === 'complete') return []
  const what = `loop ${places.name}`
  const found: Finding[] = []
  const { worktree, base_branch: branch, sandbox } = config.blast_radius
  if (worktree && !repo) {
    found.push({ what, level: 'bad', detail: 'a worktree needs a git repository', fix: 'git init' })
  } else if (worktree && repo && !(await hasBranch(repo, branch))) {
    const fix = `set blast_radius.base_branch in ${places.config}`
    found.push({ what, level: 'bad', detail: `there is no base branch ${branch}`, fix })
  }
  if (sandbox === 'required') {
    const fix = `set blast_radius.sandbox to "auto" in ${places.config}`
    found.push({ what, level: 'bad', detail: 'it requires a sandbox, and there is none', fix })
  }
  return [...found, ...(await harnessFinding(app, what, config))]
}

async function hasBranch(repo: Repository, branch: string): Promise<boolean> {
  try {
    return (await resolveCommit(repo, `refs/heads/${branch}`)) !== null
  } catch {
    return false
  }
}

async function harnessFinding(
  app: App,
  what: string,
  { harness }: NonNullable<LoopFacts['config']>,
): Promise<Finding[]> {
  try {
    const programs = harness.command?.slice(0, 1) ?? (await app.host()).harness(harness.use, {}).programs
    const missing = programs.find(
      (program) => !existsSync(program) && which(program, app.env.PATH ?? '') === null,
    )
    if (missing === undefined) return []
    const fix = `install ${missing}, or set harness.use or harness.command in its loop.json`
    return [{ what, level: 'bad', detail: `${missing} is not on PATH`, fix }]
  } catch (error) {
    return [bad(what, error)]
  }
}

function good(what: string, detail: string): Finding {
  return { what, level: 'good', detail, fix: '' }
}

function bad(what: string, error: unknown): Finding {
  if (error instanceof AutomatonError) return { what, level: 'bad', detail: error.message, fix: error.fix }
  throw error
}
