import { join } from 'node:path'
import type { RunResult, SourceContext, SourceRunOptions } from '../api/context.ts'
import { errors } from '../errors.ts'
import { matchesGlob } from '../machine/scope.ts'
import type { LoopState } from '../machine/state.ts'
import { type BaseCheckout, checkoutBase, readFilesBelow } from '../system/base-checkout.ts'
import { sessionEnv } from '../system/environment.ts'
import { exec } from '../system/exec.ts'
import { resolveCommit } from '../system/git.ts'
import { maskSecrets } from '../system/hygiene.ts'
import { contain, sandboxOf } from './containment.ts'
import type { Search, Site } from './scene.ts'
import { type SearchRecord, searchRecord } from './search-record.ts'
import { isUnmerged } from './unmerged.ts'

const defaultRunSeconds = 600
const mostFiles = 500
const largestFile = 8 << 20

/** What a source may do besides looking. Disposing of it takes the checkout of the base branch away. */
export class SourceTools
  implements Pick<SourceContext, 'run' | 'runOnBase' | 'baseFiles' | 'unmerged'>, AsyncDisposable
{
  #checkout: Promise<BaseCheckout> | null = null
  readonly #record: SearchRecord

  constructor(
    private readonly scene: Search,
    private readonly state: LoopState,
  ) {
    this.#record = searchRecord(scene, state.seq)
  }

  readonly run: SourceContext['run'] = async (argv, options) => {
    const { config, deps, repo } = this.scene
    const root = deps.project.root
    // Sessions that work in the person's checkout may have changed the very program that is named here.
    const isTheirs = !config.blast_radius.worktree
    const site: Site = {
      kind: repo ? 'primary' : 'plain',
      root: repo?.toplevel ?? root,
      cwd: root,
      base: null,
      start: null,
    }
    return this.#exec({ argv, site, options, isContained: isTheirs })
  }

  readonly runOnBase: SourceContext['runOnBase'] = async (argv, options) => {
    const { path, cwd } = await this.#base()
    const site: Site = { kind: 'plain', root: path, cwd, base: null, start: null }
    return this.#exec({ argv, site, options, isContained: true })
  }

  readonly baseFiles: SourceContext['baseFiles'] = async (glob) => {
    const { cwd } = await this.#base()
    const matches = (path: string) => matchesGlob(path, [glob])
    return readFilesBelow({ folder: cwd, matches, maxFiles: mostFiles, maxBytes: largestFile })
  }

  readonly unmerged: SourceContext['unmerged'] = async () => {
    const { repo, config } = this.scene
    const unmerged = await isUnmerged({ repo, config, state: this.state })
    // Says which branch is missing.
    if (unmerged === null) await this.#baseTip()
    return unmerged === true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const checkout = await this.#checkout?.catch(() => null)
    checkout?.[Symbol.dispose]()
    this.#record[Symbol.dispose]()
  }

  async #base(): Promise<{ path: string; cwd: string }> {
    const { repo, deps } = this.scene
    if (!repo) throw errors.notGit(deps.project.root)
    this.#checkout ??= this.#baseTip().then((commit) => checkoutBase({ repo, commit }))
    const { path } = await this.#checkout
    return { path, cwd: join(path, repo.prefix) }
  }

  async #baseTip(): Promise<string> {
    const { repo, config } = this.scene
    const branch = config.blast_radius.base_branch
    const tip = repo && (await resolveCommit(repo, `refs/heads/${branch}`))
    if (!tip) throw errors.noBaseBranch(branch, repo?.toplevel ?? this.scene.deps.project.root)
    return tip
  }

  async #exec(o: {
    argv: readonly string[]
    site: Site
    options: SourceRunOptions | undefined
    isContained: boolean
  }): Promise<RunResult> {
    const { deps, config, run, places } = this.scene
    const env = sessionEnv({
      env: deps.env,
      allowed: [...config.harness.env, ...(o.options?.env ?? [])],
      extra: { AUTOMATON_RUN_ID: run, AUTOMATON_IN_TICK: places.name },
    })
    const sandbox = o.isContained ? await sandboxOf(config, deps) : null
    using contained = sandbox
      ? contain({ ...this.scene, sandbox }, o.site, { argv: o.argv, env, writes: [] })
      : null
    this.#record.write()
    const result = await exec({
      argv: contained?.argv ?? o.argv,
      cwd: o.site.cwd,
      env: { ...env, ...contained?.env },
      timeoutMs: (o.options?.timeoutSeconds ?? defaultRunSeconds) * 1000,
      signal: deps.signal,
      runId: run,
    })
    if (result.lives) throw errors.sessionLives(places.name)
    const mask = maskSecrets(deps.env)
    return {
      exitCode: result.exitCode,
      output: mask([result.stdout, result.stderr].filter((text) => text !== '').join('\n')),
      stdout: mask(result.stdout),
      seconds: result.seconds,
      timedOut: result.ended === 'timeout',
    }
  }
}
