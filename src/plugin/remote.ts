import type { Hooks } from '../api/hooks.ts'
import type { Scheduler, SchedulerContext, Unit } from '../api/scheduler.ts'
import type { Verifier } from '../api/verdict.ts'
import { errors } from '../errors.ts'
import type { LoadAnswer, LoadRequest, SetupAnswer, TestAnswer } from './child-plugin.ts'
import type { HostedRoles } from './entry.ts'
import { Link, type LinkCall, type LinkOptions } from './link.ts'
import { remoteReader } from './remote-reader.ts'
import type { HarnessLike, HostedSource, Limits } from './roles.ts'

/** A plugin in a process of its own. */
export interface RemoteOptions extends LinkOptions {
  limits: Limits
  /** The files to run; throws `plugin_failed` when they are not to be run. Asked once, right before the start. */
  request(): LoadRequest
}

/** Starts a plugin's process when the plugin is first needed, and hands out its roles as objects of this process. */
export class RemotePlugin {
  readonly #options: RemoteOptions
  #link: Link | null = null
  #loaded: Promise<LoadAnswer> | null = null
  #request: LoadRequest | null = null

  constructor(options: RemoteOptions) {
    this.#options = options
  }

  /** Imports the file. Throws `plugin_failed` with one of the stages `resolve`, `trust`, `import` and `shape`. */
  load(): Promise<LoadAnswer> {
    this.#loaded ??= this.#load()
    return this.#loaded
  }

  /** Loads it and sets it up with these options. Throws `plugin_failed`, the stages `options` and `setup` included. */
  async setUp(options: unknown): Promise<HostedRoles> {
    await this.load()
    const answer = await this.#call('setup', [options], this.#options.limits.setup)
    return this.#roles(answer as SetupAnswer)
  }

  /** Loads its test file and says what is in it. */
  async tests(): Promise<TestAnswer> {
    await this.load()
    return (await this.#call('tests', [this.#request], this.#options.limits.setup)) as TestAnswer
  }

  /** Runs one of its tests. Rejects with why it failed. */
  async test(name: string): Promise<void> {
    await this.#call('test', [name], this.#options.limits.find)
  }

  /** Ends its process. */
  close(): void {
    this.#link?.close()
  }

  async #load(): Promise<LoadAnswer> {
    const request = this.#options.request()
    this.#request = request
    this.#link = new Link(this.#options)
    try {
      return (await this.#call('load', [request], this.#options.limits.setup)) as LoadAnswer
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      if (Object.hasOwn(error as object, 'code')) throw error
      throw errors.pluginFailed(request.as, 'import', why, error, request.fix)
    }
  }

  #call(method: string, args: unknown[], limitMs: number, more: Partial<LinkCall> = {}): Promise<unknown> {
    if (!this.#link) throw new Error('it is not loaded')
    return this.#link.call({ method, args, limitMs, ...more })
  }

  /** Calls a method with a context, whose values are copied and whose functions are lent. */
  #with(method: string, made: number, ctx: object, limitMs: number): Promise<unknown> {
    const { signal, log, ...rest } = ctx as { signal?: AbortSignal; log?(line: string): void }
    const all = Object.entries(rest)
    const isFunction = (entry: [string, unknown]): entry is [string, (...args: unknown[]) => unknown] =>
      typeof entry[1] === 'function'
    const lend = new Map(all.filter(isFunction))
    const values = Object.fromEntries(all.filter((entry) => !isFunction(entry)))
    const more = { lend, ...(signal ? { signal } : {}), ...(log ? { log } : {}) }
    return this.#call(method, [made, values, [...lend.keys()]], limitMs, more)
  }

  /** What comes back is checked by the guards, as every plugin's answer is. */
  #roles({ made, source, verifier, harness, scheduler, hooks }: SetupAnswer): HostedRoles {
    const { limits } = this.#options
    const find = (ctx: object) =>
      this.#with('find', made, ctx, limits.find) as ReturnType<HostedSource['find']>
    const verify = (ctx: object) =>
      this.#with('verify', made, ctx, limits.verify) as ReturnType<Verifier['verify']>
    return {
      ...(source ? { source: { find } } : {}),
      ...(verifier ? { verifier: { ...verifier, verify } } : {}),
      ...(harness ? { harness: this.#harness(made, harness) } : {}),
      ...(scheduler ? { scheduler: this.#scheduler(made) } : {}),
      hooks: this.#hooks(made, hooks),
    }
  }

  #harness(made: number, known: NonNullable<SetupAnswer['harness']>): HarnessLike {
    const { command: limit } = this.#options.limits
    const call = (method: string, args: unknown[]) => this.#call(method, args, limit)
    return {
      ...known,
      command: (request) => call('command', [made, request]) as Promise<never>,
      reader: () => remoteReader((method, args) => call(method, args), made),
    }
  }

  #scheduler(made: number): Scheduler {
    const act = (method: keyof Scheduler) => async (unit: Unit, ctx: SchedulerContext) =>
      (await this.#with(`schedule.${method}`, made, { ...ctx, unit }, this.#options.limits.schedule)) as never
    return {
      install: act('install'),
      remove: act('remove'),
      enable: act('enable'),
      disable: act('disable'),
      inspect: act('inspect'),
    }
  }

  #hooks(made: number, names: readonly string[]): Hooks {
    const { hook: limit } = this.#options.limits
    const hook = (name: string) => (payload: unknown) => this.#call('hook', [made, name, payload], limit)
    return Object.fromEntries(names.map((name) => [name, hook(name)]))
  }
}
