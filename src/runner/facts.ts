import { existsSync } from 'node:fs'
import { roles } from '../api/harness.ts'
import { findPrompt } from '../assets/prompts.ts'
import { AutomatonError } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import type { GateFacts } from '../machine/gate.ts'
import { countModels, resolveModel } from '../machine/models.ts'
import type { LoopState } from '../machine/state.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { readTask } from '../store/tasks.ts'
import type { Head } from '../system/checkout.ts'
import { resolveCommit } from '../system/git.ts'
import { which } from '../system/process.ts'
import type { Repository } from '../system/repository.ts'
import { isRealFolder } from '../system/small-file.ts'
import { contextsOf } from './context.ts'
import { copiedFrom } from './copied.ts'
import type { Deps } from './deps.ts'
import { allowedPhases, type Setting } from './setting.ts'

/** What a gate needs besides the state. */
export interface GateInput {
  places: LoopPlaces
  deps: Deps
  setting: Setting
  state: LoopState | null
}

type Refusal = NonNullable<GateFacts['refusal']>

/** Collects what the seven checks look at. Costs git calls only for a loop that could run. */
export async function gatherFacts({ places, deps, setting, state }: GateInput): Promise<GateFacts> {
  const { config, models, kept, repo } = setting
  const facts: GateFacts = {
    loop: places.name,
    state,
    config,
    refusal: null,
    contexts: [],
    task: null,
    allowedPhases: config ? allowedPhases(config, kept) : [],
    outOfScope: [],
    tamper: null,
    models: { count: countModels(models), implement: null, verify: null },
  }
  if (state?.status !== 'running') return facts
  facts.refusal = await refusalOf({ places, deps, setting, state })
  if (!config || facts.refusal) return facts
  const phase = state.current_phase
  facts.contexts = (await contextsOf({ config, setting, phase, deps })).roles
  facts.models.implement = resolveModel({ role: 'implement', phase, config, models })
  facts.models.verify = resolveModel({ role: 'verify', phase, config, models })
  if (state.current_task) facts.task = taskOf(state.current_task, deps)
  if (repo && config.blast_radius.worktree) {
    const { files, tamper, refusal } = await driftFacts({ places, config, repo, state })
    facts.outOfScope = files
    facts.tamper = tamper
    facts.refusal = refusal
  }
  return facts
}

/** Check 5, and whether the loop's branch belongs to its state. */
async function driftFacts(o: {
  places: LoopPlaces
  config: LoopConfig
  repo: Repository
  state: LoopState
}): Promise<{ files: string[]; tamper: string | null; refusal: Refusal | null }> {
  const { places, config, repo, state } = o
  const { base_sha: base, verified_sha: verified } = state
  const fine = { files: [], tamper: null, refusal: null }
  const hasWorktree = base !== null && existsSync(places.worktree)
  let tip: string | null
  let head: Head | undefined
  if (hasWorktree) {
    if (!isRealFolder(places.worktree)) return { ...fine, tamper: 'tamper:worktree' }
    const { headOf } = await import('../system/checkout.ts')
    head = headOf(repo, places.worktree)
    if (head.branch !== branchOf(places.name)) return { ...fine, tamper: 'tamper:head' }
    tip = head.commit
  } else {
    tip = await resolveCommit(repo, `refs/heads/${branchOf(places.name)}`)
  }
  // Rare enough that what follows is loaded only then.
  if (tip !== verified) {
    const { movedBranch } = await import('./moved-branch.ts')
    const moved = await movedBranch({ config, repo, loop: places.name, state, tip })
    if (moved.refusal || moved.tamper) return { ...fine, ...moved }
  }
  if (hasWorktree) {
    const found = await outOfScopeNow({ places, config, repo, base, head })
    if (found.tamper || found.files.length > 0) return { ...fine, ...found }
    tip = found.tip
  }
  if (tip === null || tip === verified) return fine
  const { isRolledBack } = await import('./rollback.ts')
  return { ...fine, tamper: (await isRolledBack({ places, repo, state, tip })) ? 'tamper:rollback' : null }
}

/** The worktree's drift as it stands, without a session: files out of scope, and a HEAD that is not the loop's. */
export async function outOfScopeNow(o: {
  places: LoopPlaces
  config: LoopConfig
  repo: Repository
  base: string
  /** What `headOf` has just said of the worktree, if the caller has asked. */
  head?: Head | undefined
}): Promise<{ files: string[]; tamper: string | null; tip: string | null }> {
  // Only a loop that has a worktree pays for loading this.
  const [{ headOf }, { driftOf }] = await Promise.all([
    import('../system/checkout.ts'),
    import('../system/drift.ts'),
  ])
  const head = o.head ?? headOf(o.repo, o.places.worktree)
  if (head.branch !== branchOf(o.places.name)) return { files: [], tamper: 'tamper:head', tip: null }
  await using drift = await driftOf({
    repo: o.repo,
    worktree: o.places.worktree,
    base: o.base,
    fileScope: o.config.blast_radius.file_scope,
    persist: false,
    head,
  })
  return { files: drift.outOfScope, tamper: null, tip: head.commit }
}

/** The branch that a loop works on. */
export function branchOf(loop: string): string {
  return `automaton/${loop}`
}

function taskOf(name: string, deps: Deps): GateFacts['task'] {
  const task = readTask(deps.project, name)
  return task && 'phase' in task ? { phase: task.phase } : 'missing'
}

/** A prompt that is found nowhere would otherwise only show in the middle of a tick. */
function promptProblem(config: LoopConfig, places: LoopPlaces, deps: Deps): AutomatonError | null {
  try {
    for (const role of roles) {
      findPrompt({ ref: config.roles[role].prompt, loopDir: places.dir, home: deps.home, role })
    }
    return null
  } catch (error) {
    if (error instanceof AutomatonError) return error
    throw error
  }
}

/**
 * A source or verifier that no plugin is there for, or that cannot be used as `loop.json` says: no session is paid for
 * when its work could not be graded. An unknown harness is the harness's own refusal.
 */
async function pluginProblem(
  { work_source, verifiers }: LoopConfig,
  { host }: Deps,
): Promise<AutomatonError | null> {
  const source = await host.problem('source', work_source.kind, work_source.options)
  if (source) return source
  for (const { use, options } of verifiers) {
    const problem = await host.problem('verifier', use, options ?? {})
    if (problem) return problem
  }
  return null
}

/** What a tick would be refused for before any check, or null: nothing is halted or written over it. */
export async function refusalOf({ places, deps, setting }: GateInput): Promise<Refusal | null> {
  const { config, problem, repo } = setting
  if (!config) {
    const why = problem?.message ?? 'loop.json is missing'
    return { kind: 'config', why, fix: problem?.fix ?? 'write loop.json again' }
  }
  const wrong = promptProblem(config, places, deps) ?? (await pluginProblem(config, deps))
  if (wrong) return { kind: 'config', why: wrong.message, fix: wrong.fix }
  if (config.blast_radius.worktree) {
    if (!repo) {
      const fix = 'git init, or set blast_radius.worktree to false in loop.json'
      return { kind: 'no_git', why: `${deps.project.root} is not a git repository`, fix }
    }
    const branch = config.blast_radius.base_branch
    if (!(await resolveCommit(repo, `refs/heads/${branch}`))) {
      const why = `${repo.toplevel} has no commit on a branch ${branch}`
      return {
        kind: 'no_base_branch',
        why,
        fix: 'set blast_radius.base_branch in loop.json to a branch that exists',
      }
    }
    const copied = copiedFrom({ places, repo, branch: branchOf(places.name) })
    if (copied) return { kind: 'no_git', ...copied }
  }
  return (await harnessRefusal(config, deps)) ?? (await sandboxRefusal(config, deps))
}

/** Only a loop that insists on a sandbox is refused without one; finding out takes starting a program. */
async function sandboxRefusal(config: LoopConfig, deps: Deps): Promise<Refusal | null> {
  if (config.blast_radius.sandbox !== 'required') return null
  const { sandboxOf } = await import('./containment.ts')
  const { sandboxFix } = await import('../system/sandbox/tier.ts')
  const { openBrakes } = await import('./holes.ts')
  const choice = await sandboxOf(config, deps)
  const open = openBrakes(choice, config, deps)
  // What can be undone only afterwards is no sandbox for whoever insists on one.
  if (open) return { kind: 'sandbox', why: open.what, fix: open.fix }
  const { tier, why } = choice
  if (tier !== 'T0') return null
  const fix = `${sandboxFix}, or set blast_radius.sandbox to "auto" in loop.json`
  return { kind: 'sandbox', why, fix }
}

async function harnessRefusal(config: LoopConfig, deps: Deps): Promise<Refusal | null> {
  const path = deps.env.PATH ?? ''
  const { command, use } = config.harness
  try {
    const programs = command?.slice(0, 1) ?? (await deps.host.harness(use, {})).programs
    const missing = programs.find((program) => which(program, path) === null)
    if (missing === undefined) return null
    const fix = `install ${missing}, or set harness.use or harness.command in loop.json`
    return { kind: 'harness', why: `${missing} is in no folder of PATH=${path}`, fix }
  } catch (error) {
    if (!(error instanceof AutomatonError)) throw error
    return { kind: 'harness', why: error.message, fix: error.fix }
  }
}
