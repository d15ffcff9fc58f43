import * as v from 'valibot'
import type { SourceContext, VerifyContext } from '../api/context.ts'
import type { OutputReader, SessionRequest } from '../api/harness.ts'
import type { Hooks } from '../api/hooks.ts'
import type { Plugin } from '../api/plugin.ts'
import type { Scheduler, SchedulerContext, Unit } from '../api/scheduler.ts'
import { errors } from '../errors.ts'
import { readVerdict } from '../machine/verdict.ts'
import { describe } from './call.ts'
import { pluginOf } from './definition.ts'
import { Entry, type HostedRoles } from './entry.ts'
import type { Lender } from './lender.ts'
import { defaultLimits } from './roles.ts'
import { type ServedFile, servePlugin } from './serve.ts'
import { reader as readerShape } from './shapes.ts'
import { messageOf } from './wire.ts'

/** What the plugin's process is told first. */
export interface LoadRequest {
  /** What the plugin is called until it has said its name. */
  as: string
  /** The file to import, one of `files`. */
  entry: string
  /** Its test, one of `files`; null to load none. */
  test: string | null
  files: ServedFile[]
  /** What to do about a failure. */
  fix: string
}

/** What a plugin is, in values that another process can hold. */
export interface LoadAnswer {
  name: string
  role: Plugin['role'] | null
  /** Its options have something that must be given. */
  needsOptions: boolean
}

/** What one setup made, likewise. */
export interface SetupAnswer {
  /** Names this setup in later calls. */
  made: number
  source: boolean
  verifier: { free: boolean } | null
  harness: { programs: string[]; remote: boolean; env: string[]; writes: string[]; login?: string[] } | null
  scheduler: boolean
  hooks: string[]
}

/** What a plugin's test file says. */
export interface TestAnswer {
  names: string[]
  contract: { options?: unknown; goodRun?: string | undefined }
}

/** The one plugin of this process: what it is asked to do, by the names of the methods. */
export class ChildPlugin {
  readonly #lender: Lender
  readonly #made: HostedRoles[] = []
  readonly #readers: { reader: OutputReader; failed: { error: unknown } | null }[] = []
  #entry: Entry | null = null
  #tests: Record<string, unknown> = {}

  constructor(lender: Lender) {
    this.#lender = lender
  }

  /** Runs one call; `id` is its number. The arguments come from automaton, whose types they have. */
  async run(id: number, method: string, args: unknown[]): Promise<unknown> {
    const [first, second, third] = args
    switch (method) {
      case 'load':
        return this.#load(first as LoadRequest)
      case 'tests':
        return this.#readTests(first as LoadRequest)
      case 'test':
        return void (await (this.#tests[String(first)] as () => unknown)())
      case 'setup':
        return this.#setUp(first)
      case 'find':
        return this.#of(first).source?.find(this.#context(id, second, third) as unknown as SourceContext)
      case 'verify':
        return this.#of(first).verifier?.verify(this.#context(id, second, third) as unknown as VerifyContext)
      case 'command':
        return this.#of(first).harness?.command(second as SessionRequest)
      case 'reader':
        return this.#openReader(first)
      case 'lines':
        return this.#read(first, second as string[])
      case 'end':
        return this.#endReader(first, second as Parameters<OutputReader['end']>[0])
      case 'schedule.install':
      case 'schedule.remove':
      case 'schedule.enable':
      case 'schedule.disable':
      case 'schedule.inspect': {
        const { unit, ...ctx } = this.#context(id, second, third)
        const verb = method.slice('schedule.'.length) as keyof Scheduler
        return this.#of(first).scheduler?.[verb](unit as Unit, ctx as unknown as SchedulerContext)
      }
      case 'hook':
        return this.#hook(first, second as keyof Hooks, third)
      default:
        throw new Error(`there is no method ${method}`)
    }
  }

  async #load({ as, entry, files, fix }: LoadRequest): Promise<LoadAnswer> {
    servePlugin(files)
    const plugin = pluginOf(await importFile(entry, as, fix), { plugin: as, fix })
    this.#entry = new Entry(plugin, { origin: entry, fix })
    const { name, role = null, options } = plugin
    return { name, role, needsOptions: options !== undefined && !v.is(options, {}) }
  }

  async #readTests({ as, test, fix }: LoadRequest): Promise<TestAnswer> {
    if (test === null) return { names: [], contract: {} }
    const module = await importFile(test, as, fix)
    const parsed = v.safeParse(testModule, module)
    if (!parsed.success) {
      const why =
        'a test file exports by default an object of functions, and `contract` if the suite needs options'
      throw errors.pluginFailed(as, 'test', why, undefined, fix)
    }
    const { default: tests, contract } = parsed.output
    this.#tests = tests
    return { names: Object.keys(tests), contract }
  }

  async #setUp(options: unknown): Promise<SetupAnswer> {
    if (!this.#entry) throw new Error('it is not loaded')
    const roles = await this.#entry.setUp(options, defaultLimits)
    this.#made.push(roles)
    const { source, verifier, harness, scheduler, hooks } = roles
    return {
      made: this.#made.length - 1,
      source: source !== undefined,
      verifier: verifier ? { free: verifier.free === true } : null,
      harness: harness
        ? {
            programs: [...harness.programs],
            remote: harness.remote === true,
            env: [...(harness.env ?? [])],
            writes: [...(harness.writes ?? [])],
            ...(harness.login ? { login: [...harness.login] } : {}),
          }
        : null,
      scheduler: scheduler !== undefined,
      hooks: Object.keys(hooks ?? {}),
    }
  }

  #of(made: unknown): HostedRoles {
    return this.#made[Number(made)] ?? {}
  }

  /** The values of a context as they came, and its functions as calls across the channel. */
  #context(id: number, values: unknown, functions: unknown): Record<string, unknown> {
    const ctx: Record<string, unknown> = { ...(values as object) }
    for (const name of functions as string[]) {
      ctx[name] = (...args: unknown[]) => this.#lender.ask(id, name, args)
    }
    // These two answer at once.
    ctx.log = (line: unknown) => this.#lender.log(id, line)
    ctx.readVerdict = readVerdict
    // Never aborted: a call that takes too long or is interrupted ends with its process.
    ctx.signal = new AbortController().signal
    return ctx
  }

  #openReader(made: unknown): number {
    const reader = this.#of(made).harness?.reader()
    const parsed = v.safeParse(readerShape, reader)
    if (!parsed.success) throw new Error(`it gave no reader: ${describe('result', parsed.issues[0])}`)
    return this.#readers.push({ reader: reader as OutputReader, failed: null }) - 1
  }

  /** A line that the reader chokes on must not break the session that writes it: the end tells. */
  #read(number: unknown, lines: string[]): void {
    const open = this.#readers[Number(number)]
    if (!open || open.failed) return
    try {
      for (const line of lines) open.reader.line(line)
    } catch (error) {
      open.failed = { error }
    }
  }

  #endReader(number: unknown, end: Parameters<OutputReader['end']>[0]): unknown {
    const open = this.#readers[Number(number)]
    if (open?.failed) throw open.failed.error
    return open?.reader.end(end)
  }

  /** Observers' answers are nobody's business, and may not be copied to another process. */
  async #hook(made: unknown, event: keyof Hooks, payload: unknown): Promise<unknown> {
    const { hooks } = this.#of(made)
    const hook = hooks?.[event] as ((payload: unknown) => unknown) | undefined
    const answer = await hook?.call(hooks, payload)
    return event === 'tokens:estimate' ? answer : undefined
  }
}

const testModule = v.object({
  default: v.optional(v.record(v.string(), v.function()), {}),
  contract: v.optional(v.object({ options: v.optional(v.unknown()), goodRun: v.optional(v.string()) }), {}),
})

/** Imports a file that is served. What its code throws, and what cannot be read as code, is of the stage `import`. */
async function importFile(file: string, plugin: string, fix: string): Promise<unknown> {
  try {
    return await import(file)
  } catch (error) {
    const first = firstOf(error)
    throw errors.pluginFailed(plugin, 'import', placeOf(first) + messageOf(first), undefined, fix)
  }
}

/** Code with several mistakes ends with all of them in one error, which itself only counts them. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error
}

/** `todo.ts:3:14: ` for what is no valid code. */
function placeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const position: unknown = Reflect.get(error, 'position')
  const parsed = v.safeParse(v.object({ file: v.string(), line: v.number(), column: v.number() }), position)
  if (!parsed.success) return ''
  const { file, line, column } = parsed.output
  return `${file.split(/[\\/]/).at(-1)}:${line}:${column}: `
}
