import { existsSync } from 'node:fs'
import type { App } from '../app.ts'
import { listTemplates, loadTemplate } from '../assets/templates.ts'
import { fillTemplate } from '../config/template.ts'
import { AutomatonError } from '../errors.ts'
import type { Host } from '../plugin/host.ts'
import { findProject, type Project } from '../store/layout.ts'
import { ensureIgnore, listLoops } from '../store/loops.ts'
import { findRepository } from '../system/repository.ts'
import { findBranches } from './base-branch.ts'
import { findFilters } from './filters.ts'
import { type FoundAgent, findAgents, findTestCommand } from './look-around.ts'

/** What `init` made and found. */
export interface InitReport {
  project: string
  /** False when the folder was there already. */
  created: boolean
  git: boolean
  base_branch: string | null
  /** True for a repository without a commit. */
  unborn: boolean
  test_command: string | null
  /** Filters such as git-lfs that `.gitattributes` names; automaton runs none. */
  filters: string[]
  /** Agents on PATH that automaton can drive. */
  harnesses: FoundAgent[]
  /** Agents on PATH that only `harness.command` can run. */
  other_agents: FoundAgent[]
  loops: string[]
  templates: string[]
  /** What to type next, in order. */
  next: string[]
}

/** Makes `.automaton/` in this repository, or in this folder where there is none, and looks around. */
export async function init(app: App): Promise<InitReport> {
  const project = projectHere(app)
  const created = !existsSync(project.automaton)
  ensureIgnore(project)
  const repo = findRepository(project.root)
  const branches = repo ? await findBranches(repo) : { base: null, unborn: false }
  const host = await app.host()
  const { supported: harnesses, others } = findAgents(host, app.env.PATH ?? '')
  const loops = listLoops(project)
  const report = { git: repo !== null, base_branch: branches.base, unborn: branches.unborn, harnesses, loops }
  return {
    project: project.root,
    created,
    ...report,
    other_agents: others,
    test_command: findTestCommand(project.root),
    filters: repo ? await findFilters(repo) : [],
    templates: usableTemplates(app, host),
    next: nextSteps(report),
  }
}

/** A folder that is no project yet becomes one. */
function projectHere(app: App): Project {
  try {
    return app.project()
  } catch (error) {
    if (!(error instanceof AutomatonError) || error.code !== 'no_project') throw error
    return findProject({ cwd: app.cwd, home: app.home, flag: app.cwd })
  }
}

/** Templates that a loop can be made from: whole, and with a source that there is. */
function usableTemplates({ home, cwd }: App, host: Host): string[] {
  return listTemplates(home).filter((name) => {
    const { text, from: file } = loadTemplate({ name, home, cwd })
    try {
      return host.has('source', fillTemplate({ file, text, name }).config.work_source.kind)
    } catch (error) {
      if (error instanceof AutomatonError) return false
      throw error
    }
  })
}

function nextSteps(
  found: Pick<InitReport, 'git' | 'unborn' | 'base_branch' | 'harnesses' | 'loops'>,
): string[] {
  const [loop] = found.loops
  if (loop) return [`automaton status ${loop}`]
  const first = found.harnesses[0]?.name
  const options = [
    first && first !== 'opencode' ? ` --harness ${first}` : '',
    found.git && found.base_branch === null ? ' --base BRANCH' : '',
    found.git ? '' : ' --no-worktree',
  ].join('')
  return [
    ...(found.unborn ? ['git add -A && git commit -m "first commit"'] : []),
    `automaton create-loop nightly --from-template backlog${options}`,
    'echo "what you want, and how one sees that it is done" > brief.md',
    'automaton create-task first-task --brief brief.md',
    'automaton tick nightly',
    // Once the first tick did what was wanted.
    'automaton install-schedule nightly',
  ]
}
