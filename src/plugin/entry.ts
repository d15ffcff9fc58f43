import * as v from 'valibot'
import type { PluginRole, PluginRoles } from '../api/plugin.ts'
import { errors } from '../errors.ts'
import { type CallSite, callNow, callPlugin, checkResult, describe } from './call.ts'
import type { HarnessLike, Limits } from './roles.ts'
import { pluginRolesShape } from './shapes.ts'

/** What `setup` returns; in another process a harness answers later. */
export type HostedRoles = Omit<PluginRoles, 'harness'> & { harness?: HarnessLike }

/** A plugin, in this process or another. */
export interface HostedPlugin {
  name: string
  role?: PluginRole | 'hooks'
  options?: v.GenericSchema
  /** It cannot be set up for its hooks alone. */
  needsOptions?: boolean
  setup(ctx: { options: unknown }): HostedRoles | Promise<HostedRoles>
}

/** Where a plugin came from. */
export interface EntryPlace {
  /** `built-in`, or the file. */
  origin: string
  /** What a person can do about its failures. */
  fix?: string
  /** It runs in a process of its own, which checks its options and keeps its times. */
  remote?: boolean
}

/** A plugin and what it was set up to, by its options. */
export class Entry {
  readonly plugin: HostedPlugin
  readonly origin: string
  readonly remote: boolean
  readonly #fix: string | undefined
  readonly #made = new Map<string, HostedRoles | Promise<HostedRoles>>()
  #listens = true

  constructor(plugin: HostedPlugin, place: EntryPlace) {
    this.plugin = plugin
    this.origin = place.origin
    this.remote = place.remote === true
    this.#fix = place.fix
  }

  /** A call of this plugin's method, for errors. */
  site(method: string): CallSite {
    const { name: plugin } = this.plugin
    const fix = this.#fix ?? (this.origin === 'built-in' ? builtInFixes[method] : undefined)
    return fix === undefined ? { plugin, method } : { plugin, method, fix }
  }

  setUp(options: unknown, limits: Limits): HostedRoles | Promise<HostedRoles> {
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
  made(): HostedRoles[] {
    return [...this.#made.values()].flatMap((roles) => (roles instanceof Promise ? [] : [roles]))
  }

  /** What was set up so far; a plugin that has no stated role is set up for its hooks, if it needs no options. */
  async listeners(limits: Limits): Promise<HostedRoles[]> {
    const idle = this.#made.size === 0 && this.plugin.role === undefined && this.#listens
    if (idle) {
      // Tried once: what failed is said once.
      this.#listens = false
      const { options, needsOptions } = this.plugin
      if (!needsOptions && (!options || v.is(options, {}))) await this.setUp({}, limits)
    }
    return Promise.all(this.#made.values())
  }

  #check(options: unknown): unknown {
    if (this.remote) return options
    const schema = this.plugin.options ?? v.strictObject({})
    const parsed = callNow(this.site('options'), () => v.safeParse(schema, options))
    if (parsed.success) return parsed.output
    const { name } = this.plugin
    const why = `${describe('options', parsed.issues[0])}${this.#file()}`
    throw errors.pluginFailed(name, 'options', why, undefined, `correct the options of ${name} in loop.json`)
  }

  #setUp(options: unknown, limits: Limits): HostedRoles | Promise<HostedRoles> {
    const site = this.site('setup')
    const made: unknown = callNow(site, () => this.plugin.setup({ options }))
    if (!(made instanceof Promise)) return this.#roles(made)
    return callPlugin({ site, limitMs: limits.setup, run: () => made }).then((roles) => this.#roles(roles))
  }

  #roles(made: unknown): HostedRoles {
    const site = this.site('setup')
    checkResult(site, pluginRolesShape, made)
    const { role } = this.plugin
    const fail = (why: string) => errors.pluginFailed(site.plugin, 'setup', why, undefined, site.fix)
    if (!isRoles(made)) throw fail('it returned no object')
    if (role !== undefined && !made[role]) throw fail(`it says that it is a ${role}, and returned none`)
    return made
  }

  #file(): string {
    return this.origin === 'built-in' ? '' : ` (${this.origin})`
  }
}

/** Nobody mends a built-in plugin: what it met is in the project, or in what `loop.json` has it run. */
const builtInFixes: Readonly<Record<string, string>> = {
  find: 'look at work_source in loop.json, and at what it reads or runs',
  verify: 'look at verifiers in loop.json, and at what they run',
}

/** The shape was checked just before; the object itself is kept, so that its methods keep their `this`. */
function isRoles(value: unknown): value is HostedRoles {
  return typeof value === 'object' && value !== null
}
