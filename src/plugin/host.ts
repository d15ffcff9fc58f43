import * as v from 'valibot'
import type { SourceContext, VerifyContext } from '../api/context.ts'
import type { Harness } from '../api/harness.ts'
import type { HookEvents } from '../api/hooks.ts'
import type { Plugin, PluginRole, PluginRoles } from '../api/plugin.ts'
import type { Scheduler } from '../api/scheduler.ts'
import type { Verifier, VerifierResult } from '../api/verdict.ts'
import type { WorkItem } from '../api/work.ts'
import { AutomatonError, errors } from '../errors.ts'
import { callNow, callPlugin, checkResult, describe } from './call.ts'
import * as guard from './roles.ts'
import { pluginRolesShape } from './shapes.ts'

/** A plugin that is loaded, and the file that it came from. */
export interface LoadedPlugin {
  plugin: Plugin
  origin: string
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
  role: PluginRole | null
  /** `built-in`, or the file. */
  origin: string
  /** The origin of the plugin that took its place. */
  replacedBy: string | null
}

/**
 * Holds the plugins. Each getter checks the options, sets the plugin up once for them, and hands out the role behind
 * the door of `call.ts`. Throws `plugin_unknown`, or `plugin_failed` with the stage `options` or `setup`.
 */
export interface Host {
  source(name: string, options?: unknown): Promise<guard.HostedSource>
  verifier(name: string, options?: unknown): Promise<Verifier>
  scheduler(name: string, options?: unknown): Promise<Scheduler>
  /** Does not wait: a harness whose setup returns a promise is refused. */
  harness(name: string, options?: unknown): Harness
  /** Asks a source for work. */
  find(name: string, options: unknown, ctx: SourceContext): Promise<WorkItem[]>
  /** Asks a verifier for a verdict. An error of what `ctx` lends it (a session that failed) passes as it is. */
  verify(name: string, options: unknown, ctx: VerifyContext): Promise<VerifierResult>
  /** True when a verifier that was set up says that it spends no session. */
  isFree(verifier: string): boolean
  /** True when the harness is known to run on a remote service only. */
  isRemote(harness: string): boolean
  /** Tells every hook at once. What fails or takes too long is logged; this never rejects. */
  emit<E extends keyof HookEvents>(event: E, payload: HookEvents[E]): Promise<void>
  list(): ListedPlugin[]
  /** True when a plugin of the name fills the role, or may. */
  has(role: PluginRole, name: string): boolean
}

/** Makes the host of one process. */
export function createHost(input: HostInput): Host {
  const entries = [
    ...input.builtins.map((plugin) => new Entry(plugin, 'built-in')),
    ...(input.loaded ?? []).map(({ plugin, origin }) => new Entry(plugin, origin)),
  ]
  const limits = { ...guard.defaultLimits, ...input.limits }
  const at = (entry: Entry): guard.Guard => ({ plugin: entry.plugin.name, limits })

  const host: Host = {
    source: (name, options) => waiting('source', name, options, guard.guardSource),
    verifier: (name, options) => waiting('verifier', name, options, guard.guardVerifier),
    scheduler: (name, options) => waiting('scheduler', name, options, guard.guardScheduler),
    harness(name, options) {
      for (const entry of candidates('harness', name)) {
        const roles = entry.setUp(options, limits)
        if (roles instanceof Promise) {
          roles.catch(() => undefined)
          throw errors.pluginFailed(
            name,
            'setup',
            'it returned a promise, and a harness is set up without waiting',
          )
        }
        if (roles.harness) return guard.guardHarness(roles.harness, at(entry))
      }
      throw unknown('harness', name)
    },
    find: async (name, options, ctx) => (await host.source(name, options)).find(ctx),
    verify: async (name, options, ctx) => (await host.verifier(name, options)).verify(ctx),
    isFree: (name) =>
      candidates('verifier', name).some((entry) => entry.made().some((it) => it.verifier?.free)),
    isRemote(name) {
      try {
        return host.harness(name).remote === true
      } catch (error) {
        // The gate refuses such a harness by its own error; here it is only not known to be remote.
        if (error instanceof AutomatonError) return false
        throw error
      }
    },
    async emit(event, payload) {
      await Promise.all(
        entries.filter((entry) => replacement(entry) === null).map((entry) => tell(entry, event, payload)),
      )
    },
    list: () =>
      entries.map((entry) => ({
        name: entry.plugin.name,
        role: entry.plugin.role ?? null,
        origin: entry.origin,
        replacedBy: replacement(entry)?.origin ?? null,
      })),
    has: (role, name) => candidates(role, name).length > 0,
  }
  return host

  async function waiting<R extends PluginRole, T>(
    role: R,
    name: string,
    options: unknown,
    wrap: (found: NonNullable<PluginRoles[R]>, at: guard.Guard) => T,
  ): Promise<T> {
    for (const entry of candidates(role, name)) {
      const found = (await entry.setUp(options, limits))[role]
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

  function unknown(role: PluginRole, name: string): AutomatonError {
    const names = entries.filter(({ plugin }) => plugin.role === role).map(({ plugin }) => plugin.name)
    const known = [...new Set(names)].sort().join(', ')
    return errors.pluginUnknown(role, name, `there are ${known || 'none'}`)
  }

  async function tell<E extends keyof HookEvents>(entry: Entry, event: E, payload: HookEvents[E]) {
    const site = { plugin: entry.plugin.name, method: `hook ${event}` }
    try {
      for (const { hooks } of await entry.listeners(limits)) {
        const hook = hooks?.[event]
        // A copy each: hooks observe, and what one changes no one else sees.
        const run = () => hook?.call(hooks, structuredClone(payload))
        if (hook) await callPlugin({ site, limitMs: limits.hook, run })
      }
    } catch (error) {
      input.log(error instanceof Error ? error.message : String(error))
    }
  }
}

/** A plugin and what it was set up to, by its options. */
class Entry {
  readonly #made = new Map<string, PluginRoles | Promise<PluginRoles>>()
  #listens = true
  constructor(
    readonly plugin: Plugin,
    readonly origin: string,
  ) {}

  setUp(options: unknown, limits: guard.Limits): PluginRoles | Promise<PluginRoles> {
    const key = JSON.stringify(options ?? {})
    const known = this.#made.get(key)
    if (known) return known
    const made = this.#setUp(this.#check(options ?? {}), limits)
    this.#made.set(key, made)
    if (made instanceof Promise) {
      made.then(
        (roles) => this.#made.set(key, roles),
        () => this.#made.delete(key),
      )
    }
    return made
  }

  /** What was set up so far, without waiting for what is not ready. */
  made(): PluginRoles[] {
    return [...this.#made.values()].flatMap((roles) => (roles instanceof Promise ? [] : [roles]))
  }

  /** What was set up so far; a plugin that has no stated role is set up for its hooks, if it needs no options. */
  async listeners(limits: guard.Limits): Promise<PluginRoles[]> {
    const idle = this.#made.size === 0 && this.plugin.role === undefined && this.#listens
    if (idle) {
      // Tried once: what failed is said once.
      this.#listens = false
      if (!this.plugin.options || v.is(this.plugin.options, {})) await this.setUp({}, limits)
    }
    return Promise.all(this.#made.values())
  }

  #check(options: unknown): unknown {
    const { name, options: schema } = this.plugin
    const site = { plugin: name, method: 'options' }
    const parsed = callNow(site, () => v.safeParse(schema ?? v.strictObject({}), options))
    if (parsed.success) return parsed.output
    throw errors.pluginFailed(name, 'options', `${describe('options', parsed.issues[0])}${this.#file()}`)
  }

  #setUp(options: unknown, limits: guard.Limits): PluginRoles | Promise<PluginRoles> {
    const site = { plugin: this.plugin.name, method: 'setup' }
    const made: unknown = callNow(site, () => this.plugin.setup({ options }))
    if (!(made instanceof Promise)) return this.#roles(made)
    return callPlugin({ site, limitMs: limits.setup, run: () => made }).then((roles) => this.#roles(roles))
  }

  #roles(made: unknown): PluginRoles {
    const site = { plugin: this.plugin.name, method: 'setup' }
    checkResult(site, pluginRolesShape, made)
    const { role } = this.plugin
    if (!isRoles(made)) throw errors.pluginFailed(this.plugin.name, 'setup', 'it returned no object')
    if (role !== undefined && !made[role]) {
      throw errors.pluginFailed(this.plugin.name, 'setup', `it says that it is a ${role}, and returned none`)
    }
    return made
  }

  #file(): string {
    return this.origin === 'built-in' ? '' : ` (${this.origin})`
  }
}

/** The shape was checked just before; the object itself is kept, so that its methods keep their `this`. */
function isRoles(value: unknown): value is PluginRoles {
  return typeof value === 'object' && value !== null
}
