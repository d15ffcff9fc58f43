import type { SourceContext, VerifyContext } from '../api/context.ts'
import type { HookEvents, Observers, TokenQuestion } from '../api/hooks.ts'
import type { Plugin, PluginRole } from '../api/plugin.ts'
import type { Scheduler } from '../api/scheduler.ts'
import type { Verifier, VerifierResult } from '../api/verdict.ts'
import type { WorkItem } from '../api/work.ts'
import { AutomatonError, errors } from '../errors.ts'
import { nearest } from '../machine/nearest.ts'
import { callPlugin, checkResult } from './call.ts'
import { Entry, type HostedPlugin, type HostedRoles } from './entry.ts'
import * as guard from './roles.ts'
import * as shapes from './shapes.ts'

/** A user's plugin, and the file that it came from. */
export interface LoadedPlugin {
  plugin: HostedPlugin
  origin: string
  /** What a person can do about its failures. */
  fix?: string
  /** It runs in a process of its own. */
  remote?: boolean
  /** Why it cannot be used as it is, where that is known without running it. */
  problem?: AutomatonError | null
}

/** What a host is made from. */
export interface HostInput {
  builtins: readonly Plugin[]
  /** The user's plugins in the order of loading; a later one takes the place of an earlier one of its name. */
  loaded?: readonly LoadedPlugin[]
  /** Progress for a person who watches. */
  log(line: string): void
  limits?: Partial<guard.Limits>
}

/** One plugin, as `automaton plugins` shows it. */
export interface ListedPlugin {
  name: string
  /** null: it did not say, and shows it only when it is set up. */
  role: PluginRole | 'hooks' | null
  /** `built-in`, or the file. */
  origin: string
  /** The origin of the plugin that took its place. */
  replacedBy: string | null
  /** The origin of the plugin whose place it took. */
  replaces: string | null
  /** False for a file that nobody trusted as it is; true for a built-in. */
  trusted: boolean
  /** Why it cannot be used, and one thing to do; null when nothing is known against it. */
  problem: { message: string; fix: string } | null
}

/**
 * Holds the plugins. Each getter checks the options, sets the plugin up once for them, and hands out the role behind
 * the door of `call.ts`. Throws `plugin_unknown`, or `plugin_failed` with the stage `options` or `setup`.
 */
export interface Host {
  source(name: string, options?: unknown): Promise<guard.HostedSource>
  verifier(name: string, options?: unknown): Promise<Verifier>
  scheduler(name: string, options?: unknown): Promise<Scheduler>
  harness(name: string, options?: unknown): Promise<guard.HostedHarness>
  /** Asks a source for work. */
  find(name: string, options: unknown, ctx: SourceContext): Promise<WorkItem[]>
  /** Asks a verifier for a verdict. An error of what `ctx` lends it (a session that failed) passes as it is. */
  verify(name: string, options: unknown, ctx: VerifyContext): Promise<VerifierResult>
  /** True when a verifier that was set up says that it spends no session. */
  isFree(verifier: string): boolean
  /** True when the harness is known to run on a remote service only. */
  isRemote(harness: string): Promise<boolean>
  /** Sets up a plugin for its hooks, with options: they are told from now on. Throws as the getters do. */
  listen(name: string, options: unknown): Promise<void>
  /** Tells every hook at once. What fails or takes too long is logged; this never rejects. */
  emit<E extends keyof HookEvents>(event: E, payload: HookEvents[E]): Promise<void>
  /** Asks the hook `tokens:estimate`, of the plugin loaded last. Null where none has it; one that fails is logged and passed over. */
  countTokens(question: TokenQuestion): Promise<number | null>
  list(): ListedPlugin[]
  /** True when a plugin of the name fills the role, or may. */
  has(role: PluginRole, name: string): boolean
  /** The error `plugin_unknown` with what there is; null when {@link has} is true. */
  missing(role: PluginRole, name: string): AutomatonError | null
  /**
   * Why a plugin cannot be used with these options, or null: it is missing, or it fails in one of the stages up to
   * `setup`; of a built-in one those are its options. Loads the one that is asked for, and no other.
   */
  problem(role: PluginRole, name: string, options: unknown): Promise<AutomatonError | null>
}

/** Makes the host of one process. */
export function createHost(input: HostInput): Host {
  const loaded = (input.loaded ?? []).map(({ plugin, ...place }) => ({
    entry: new Entry(plugin, place),
    problem: place.problem ?? null,
  }))
  const problems = new Map(loaded.map(({ entry, problem }) => [entry, problem]))
  const entries = [
    ...input.builtins.map((plugin) => new Entry(plugin, { origin: 'built-in' })),
    ...loaded.map(({ entry }) => entry),
  ]
  const limits = { ...guard.defaultLimits, ...input.limits }
  const limitsOf = (entry: Entry) => (entry.remote ? guard.noLimits : limits)
  const at = (entry: Entry): guard.Guard => ({
    site: (method) => entry.site(method),
    limits: limitsOf(entry),
  })

  const host: Host = {
    source: (name, options) => waiting('source', name, options, guard.guardSource),
    verifier: (name, options) => waiting('verifier', name, options, guard.guardVerifier),
    scheduler: (name, options) => waiting('scheduler', name, options, guard.guardScheduler),
    harness: (name, options) => waiting('harness', name, options, guard.guardHarness),
    find: async (name, options, ctx) => (await host.source(name, options)).find(ctx),
    verify: async (name, options, ctx) => (await host.verifier(name, options)).verify(ctx),
    isFree: (name) =>
      candidates('verifier', name).some((entry) => entry.made().some((it) => it.verifier?.free)),
    async isRemote(name) {
      try {
        return (await host.harness(name)).remote
      } catch (error) {
        // The gate refuses such a harness by its own error; here it is only not known to be remote.
        if (error instanceof AutomatonError) return false
        throw error
      }
    },
    async listen(name, options) {
      const listens = ({ plugin }: Entry) => (plugin.role ?? 'hooks') === 'hooks'
      const entry = entries.findLast((one) => one.plugin.name === name && listens(one))
      if (!entry) throw unknown('hooks', name)
      await entry.setUp(options, limitsOf(entry))
    },
    async emit(event, payload) {
      await Promise.all(
        entries.filter((entry) => replacement(entry) === null).map((entry) => tell(entry, event, payload)),
      )
    },
    async countTokens(question) {
      for (const entry of entries.filter((one) => replacement(one) === null).reverse()) {
        const counted = await orLog(() => count(entry, question))
        if (counted !== undefined && counted !== null) return counted
      }
      return null
    },
    list: () =>
      entries.map((entry) => ({
        name: entry.plugin.name,
        role: entry.plugin.role ?? null,
        origin: entry.origin,
        replacedBy: replacement(entry)?.origin ?? null,
        replaces: entries.findLast((other) => replacement(other) === entry)?.origin ?? null,
        trusted: problems.get(entry)?.message.includes(' failed in trust: ') !== true,
        problem: problemOf(entry),
      })),
    has: (role, name) => candidates(role, name).length > 0,
    missing: (role, name) => (host.has(role, name) ? null : unknown(role, name)),
    async problem(role, name, options) {
      const [first] = candidates(role, name)
      if (!first) return unknown(role, name)
      try {
        await waiting(role, name, options, () => null)
        return null
      } catch (error) {
        if (error instanceof AutomatonError) return error
        throw error
      }
    },
  }
  return host

  async function waiting<R extends PluginRole, T>(
    role: R,
    name: string,
    options: unknown,
    wrap: (found: NonNullable<HostedRoles[R]>, at: guard.Guard) => T,
  ): Promise<T> {
    for (const entry of candidates(role, name)) {
      const found = (await entry.setUp(options, limitsOf(entry)))[role]
      if (found) return wrap(found, at(entry))
    }
    throw unknown(role, name)
  }

  /** The latest first. Where it turns out not to fill the role, the one that it would replace serves. */
  function candidates(role: PluginRole, name: string): Entry[] {
    return entries.filter(({ plugin }) => plugin.name === name && (plugin.role ?? role) === role).reverse()
  }

  function replacement(entry: Entry): Entry | null {
    const later = entries.slice(entries.indexOf(entry) + 1)
    const same = ({ plugin }: Entry) =>
      plugin.name === entry.plugin.name && (plugin.role ?? entry.plugin.role) === entry.plugin.role
    return later.findLast(same) ?? null
  }

  function problemOf(entry: Entry): ListedPlugin['problem'] {
    const problem = problems.get(entry)
    return problem ? { message: problem.message, fix: problem.fix } : null
  }

  function unknown(role: PluginRole | 'hooks', name: string): AutomatonError {
    const names = entries.filter(({ plugin }) => plugin.role === role).map(({ plugin }) => plugin.name)
    const known = [...new Set(names)].sort()
    return errors.pluginUnknown(role, name, `there are ${known.join(', ') || 'none'}`, nearest(name, known))
  }

  async function orLog<T>(run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run()
    } catch (error) {
      input.log(error instanceof Error ? error.message : String(error))
      return undefined
    }
  }

  /** What a plugin counts; null when it does not. */
  async function count(entry: Entry, question: TokenQuestion): Promise<number | null> {
    const limits = limitsOf(entry)
    for (const { hooks } of await entry.listeners(limits)) {
      const hook = hooks?.['tokens:estimate']
      if (!hook) continue
      const site = entry.site('hook tokens:estimate')
      const run = () => hook.call(hooks, structuredClone(question))
      return checkResult(site, shapes.tokenCount, await callPlugin({ site, limitMs: limits.hook, run }))
    }
    return null
  }

  async function tell<E extends keyof HookEvents>(entry: Entry, event: E, payload: HookEvents[E]) {
    const site = entry.site(`hook ${event}`)
    const { hook: limitMs } = limitsOf(entry)
    await orLog(async () => {
      const told = (await entry.listeners(limitsOf(entry))).map(({ hooks }: { hooks?: Observers }) => {
        const hook = hooks?.[event]
        // A copy each: hooks observe, and what one changes no one else sees.
        const run = () => hook?.call(hooks, structuredClone(payload))
        return hook && orLog(() => callPlugin({ site, limitMs, run }))
      })
      await Promise.all(told)
    })
  }
}
