import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { loadTemplate } from '../assets/templates.ts'
import { loadModels } from '../config/project.ts'
import { fillTemplate, type TemplateRequest } from '../config/template.ts'
import { AutomatonError, errors } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import { nearest } from '../machine/nearest.ts'
import { freshState } from '../machine/state.ts'
import type { Host } from '../plugin/host.ts'
import { readBounded } from '../store/atomic.ts'
import { checkName, findProject, loopPlaces, type Project } from '../store/layout.ts'
import { createLoop as create } from '../store/loops.ts'
import { resolveCommit } from '../system/git.ts'
import { findRepository, type Repository } from '../system/repository.ts'
import { findBranches } from './base-branch.ts'
import { existingTask } from './known-task.ts'
import { agentNames, findAgents, findChecks } from './look-around.ts'

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

/**
 * Makes a loop from a template. Whatever is wrong, nothing is left behind. Throws `exists`, `no_template`, `no_task`,
 * and `usage` for a loop that this automaton could never tick.
 */
export async function createLoop(app: App, o: CreateLoopOptions): Promise<CreateLoopReport> {
  const name = checkName('loop', o.loop)
  const project = projectFor(app, o.worktree)
  const places = loopPlaces(project, name)
  if (existsSync(places.dir))
    throw errors.exists('loop', name, `automaton status ${name}, or choose another name`)
  const template = loadTemplate({ name: o.template, home: app.home, cwd: app.cwd })
  if (o.task !== null) existingTask(project, o.task)
  const checks = findChecks(project.root)
  const { config, text, warnings } = fillTemplate({
    ...{ file: template.from, text: template.text, name },
    ...wishes(o, o.worktree ? await baseBranch(project, o) : null),
    ...(checks ? { checks } : {}),
    models: loadModels(readBounded(join(app.home, 'models.json'), 1 << 20)),
  })
  const host = await app.host()
  refuseUnknown(host, config)
  const state = freshState(name, app.clock.iso())
  const { prompts } = template
  create(project, { config: text, state, by: 'human', data: { template: template.from }, prompts })
  return {
    loop: name,
    file: places.config,
    template: template.from,
    config,
    warnings: [...warnings, ...checkWarnings(config), ...harnessWarnings(app, host, config)],
    next: [
      `automaton tick ${name}`,
      ...(config.schedule.kind === 'native' ? [`automaton install-schedule ${name}`] : []),
    ],
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

/** What the person asked for; what is absent stays as the template has it. */
function wishes(o: CreateLoopOptions, base: string | null): Omit<TemplateRequest, 'file' | 'text' | 'name'> {
  return {
    ...(o.task === null ? {} : { task: o.task }),
    ...(o.harness === null ? {} : { harness: o.harness }),
    ...(o.interval === null ? {} : { intervalSeconds: o.interval }),
    ...(o.scope.length === 0 ? {} : { fileScope: o.scope }),
    ...(base === null ? {} : { baseBranch: base }),
    ...(o.worktree ? {} : { worktree: false }),
  }
}

/** What no plugin is there for would be refused by every tick. */
function refuseUnknown(host: Host, { work_source, verifiers, harness, name }: LoopConfig): void {
  const missing = [
    host.missing('source', work_source.kind),
    ...verifiers.map(({ use }) => host.missing('verifier', use)),
  ].find((error) => error !== null)
  if (missing) throw errors.usage(`cannot make loop (${name})`, missing.message, 'automaton plugins')
  const agents = agentNames(host)
  if (harness.command !== null || agents.includes(harness.use)) return
  const near = nearest(harness.use, agents)
  throw errors.usage(
    `unknown harness (${harness.use})`,
    `${near ? `did you mean "${near}"? ` : ''}there is ${agents.join(', ')}; others run by harness.command in loop.json`,
    near
      ? `write --harness ${near}`
      : `make the loop without --harness, then set harness.command in its loop.json`,
  )
}

function checkWarnings({ work_source: { kind, options } }: LoopConfig): string[] {
  if (kind !== 'ci' || options.commands !== undefined) return []
  return ['no test command was found: name the checks in work_source.options.commands of loop.json']
}

function harnessWarnings(app: App, host: Host, { harness }: LoopConfig): string[] {
  if (harness.command !== null) return []
  const { supported } = findAgents(host, app.env.PATH ?? '')
  const found = supported.map((agent) => agent.name)
  if (found.includes(harness.use)) return []
  const instead = found.length > 0 ? `; there is ${found.join(', ')}: set harness.use in loop.json` : ''
  return [`${harness.use} is not on PATH${instead}`]
}
