import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { loadTemplate } from '../assets/templates.ts'
import { loadLoopConfig } from '../config/loop.ts'
import { loadModels } from '../config/project.ts'
import { AutomatonError, errors } from '../errors.ts'
import type { LoopConfig, Models } from '../machine/config.ts'
import { resolveModel } from '../machine/models.ts'
import { freshState } from '../machine/state.ts'
import { readBounded } from '../store/atomic.ts'
import { checkName, findProject, loopPlaces, type Project } from '../store/layout.ts'
import { createLoop as create } from '../store/loops.ts'
import { resolveCommit } from '../system/git.ts'
import { findRepository, type Repository } from '../system/repository.ts'
import { findBranches } from './base-branch.ts'
import { findHarnesses } from './look-around.ts'

/** A loop that a person wants; null leaves it to the template. */
export interface CreateLoopOptions {
  loop: string
  template: string
  task: string | null
  harness: string | null
  interval: number | null
  scope: string[]
  base: string | null
  worktree: boolean
}

/** The loop that was made. */
export interface CreateLoopReport {
  loop: string
  file: string
  template: string
  config: LoopConfig
  warnings: string[]
  /** What to type next. */
  next: string[]
}

/** Makes a loop from a template. Whatever is wrong, nothing is left behind. Throws `exists`, `no_template` and more. */
export async function createLoop(app: App, o: CreateLoopOptions): Promise<CreateLoopReport> {
  const name = checkName('loop', o.loop)
  const project = projectFor(app, o.worktree)
  const places = loopPlaces(project, name)
  if (existsSync(places.dir))
    throw errors.exists('loop', name, `automaton status ${name}, or choose another name`)
  const template = loadTemplate({ name: o.template, home: app.home, cwd: app.cwd })
  const base = o.worktree ? await baseBranch(project, o) : null
  const { config: plain, warnings } = loadLoopConfig({
    file: template.from,
    text: JSON.stringify(merged(template.text, template.from, o, base)),
  })
  const models = loadModels(readBounded(join(app.home, 'models.json'), 1 << 20))
  const config = withTwoModels(plain, models)
  const text = `${JSON.stringify(config, null, 2)}\n`
  const state = freshState(name, app.clock.iso())
  create(project, { config: text, state, by: 'human', data: { template: template.from } })
  return {
    loop: name,
    file: places.config,
    template: template.from,
    config,
    warnings: [...warnings, ...harnessWarnings(app, config)],
    next: [`automaton tick ${name}`],
  }
}

/** Without a worktree a plain folder will do, so that a CI job needs no repository. */
function projectFor(app: App, worktree: boolean): Project {
  try {
    return app.project()
  } catch (error) {
    if (worktree || !(error instanceof AutomatonError) || error.code !== 'no_project') throw error
    return findProject({ cwd: app.cwd, home: app.home, flag: app.cwd })
  }
}

async function baseBranch(project: Project, o: CreateLoopOptions): Promise<string> {
  const repo = findRepository(project.root)
  if (!repo) throw errors.notGit(project.root)
  const { base, unborn } = await findBranches(repo)
  if (unborn) throw errors.noCommits(repo.toplevel)
  if (o.base !== null) return await existingBranch(repo, o.base)
  if (base !== null) return base
  const why = 'no branch is checked out, and origin names none'
  throw errors.usage(
    'no base branch',
    why,
    `automaton create-loop ${o.loop} --from-template ${o.template} --base BRANCH`,
  )
}

async function existingBranch(repo: Repository, name: string): Promise<string> {
  if (await resolveCommit(repo, `refs/heads/${name}`)) return name
  throw errors.usage(
    `base branch not found (${name})`,
    `${repo.toplevel} has no such branch`,
    'git branch --list',
  )
}

/** The template with what the person asked for; what it says besides is kept. */
function merged(text: string, from: string, o: CreateLoopOptions, base: string | null): object {
  const template = objectOf(text, from)
  const part = (key: string) => (isObject(template[key]) ? template[key] : {})
  const source = part('work_source')
  const blast = part('blast_radius')
  return {
    ...template,
    name: o.loop,
    work_source: o.task === null ? source : { ...source, kind: 'single', task: checkName('task', o.task) },
    blast_radius: {
      ...blast,
      ...(o.scope.length > 0 ? { file_scope: o.scope } : {}),
      ...(base === null ? {} : { base_branch: base }),
      ...(o.worktree ? {} : { worktree: false }),
    },
    ...(o.interval === null ? {} : { schedule: { ...part('schedule'), interval_seconds: o.interval } }),
    ...(o.harness === null ? {} : { harness: { ...part('harness'), use: o.harness } }),
  }
}

function objectOf(text: string, from: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Said below.
  }
  throw errors.badConfig(from, 'the whole file', 'not JSON', 'one JSON object')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** With two models or more, implement and verify get different ones, so that a fresh loop does not halt at once. */
function withTwoModels(config: LoopConfig, models: Models | null): LoopConfig {
  if (!models || models.models.length < 2) return config
  const of = (role: 'implement' | 'verify') => resolveModel({ role, phase: null, config, models })
  const implement = of('implement') ?? models.models[0] ?? null
  const wanted = of('verify')
  const verify =
    wanted !== null && wanted !== implement ? wanted : models.models.find((id) => id !== implement)
  const { roles } = config
  return {
    ...config,
    roles: {
      ...roles,
      implement: { ...roles.implement, model: implement },
      verify: { ...roles.verify, model: verify ?? null },
    },
  }
}

function harnessWarnings(app: App, config: LoopConfig): string[] {
  if (config.harness.command !== null) return []
  const found = findHarnesses(app.env.PATH ?? '').map((harness) => harness.name)
  if (found.includes(config.harness.use)) return []
  const instead = found.length > 0 ? `; there is ${found.join(', ')}: set harness.use in loop.json` : ''
  return [`${config.harness.use} is not on PATH${instead}`]
}
