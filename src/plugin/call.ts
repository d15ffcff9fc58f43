import * as v from 'valibot'
import { AutomatonError, errors } from '../errors.ts'

/** A call into a plugin, as errors name it: `plugin "x" failed in find: …`. */
export interface CallSite {
  plugin: string
  /** The method or hook. */
  method: string
  /** What a person can do about it; default: look at the list of plugins. */
  fix?: string
}

/** One call into a plugin that may wait. */
export interface PluginCall {
  site: CallSite
  limitMs: number
  /** Aborted when the tick is interrupted. */
  signal?: AbortSignal
  /** What {@link lend} caught: errors of automaton's own that pass through the plugin. */
  lent?: ReadonlySet<unknown>
  /** Asked when its time is up: true when it waits, or has waited, for something lent, which has a limit of its own. */
  isWaiting?(): boolean
  /** The call itself; `signal` is aborted when its time is up as well. */
  run(signal: AbortSignal): unknown
}

const longestTimer = 2 ** 31 - 1

/**
 * The door that every call into a plugin goes through. A throw, a rejection and a wait past the limit become
 * `plugin_failed` with the cause kept. An error of automaton's own, thrown by what it lent to the plugin, passes as it
 * is, and so does everything once the tick is interrupted. Code that never yields cannot be stopped from here.
 */
export async function callPlugin(call: PluginCall): Promise<unknown> {
  const { site, limitMs, signal, lent, run } = call
  signal?.throwIfAborted()
  const timeUp = new AbortController()
  const either = signal ? AbortSignal.any([signal, timeUp.signal]) : timeUp.signal
  const stopped = new Promise<never>((_, reject) => {
    either.addEventListener('abort', () => reject(either.reason), { once: true })
  })
  const wait = () => setTimeout(late, Math.min(limitMs, longestTimer))
  const late = () => {
    if (call.isWaiting?.()) timer = wait()
    else timeUp.abort(new Error(`no answer within ${limitMs / 1000} seconds`))
  }
  let timer = wait()
  try {
    return await Promise.race([(async () => run(either))(), stopped])
  } catch (error) {
    if (signal?.aborted || lent?.has(error)) throw error
    throw failure(site, timeUp.signal.aborted ? timeUp.signal.reason : error)
  } finally {
    clearTimeout(timer)
  }
}

/** Wraps a function that a plugin is lent, so that what it throws is known to be no fault of the plugin. */
export function lend<A extends unknown[], T>(
  caught: Set<unknown>,
  run: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  return async (...args) => {
    try {
      return await run(...args)
    } catch (error) {
      caught.add(error)
      throw error
    }
  }
}

/** The same for a call that must answer at once. */
export function callNow<T>(site: CallSite, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw failure(site, error)
  }
}

/** Checks what a plugin answered. The error reads `result[0].title is missing`. */
export function checkResult<S extends v.GenericSchema>(
  site: CallSite,
  schema: S,
  value: unknown,
): v.InferOutput<S> {
  const parsed = callNow(site, () => v.safeParse(schema, value))
  if (parsed.success) return parsed.output
  throw errors.pluginFailed(
    site.plugin,
    site.method,
    describe('result', parsed.issues[0]),
    undefined,
    site.fix,
  )
}

/** A schema's complaint in words that start with the place. */
export function describe(root: string, issue: v.BaseIssue<unknown>): string {
  const place = (issue.path ?? []).map(({ key }) =>
    typeof key === 'number' ? `[${key}]` : `.${String(key)}`,
  )
  const input: unknown = issue.path ? issue.path.at(-1)?.value : issue.input
  const where = `${root}${place.join('')}`
  if (issue.expected === 'never') return `${where} is not known`
  if (input === undefined) return `${where} is missing`
  return `${where} is ${short(input)}: ${issue.message}`
}

function failure({ plugin, method, fix }: CallSite, error: unknown): AutomatonError {
  if (error instanceof AutomatonError) return error
  const why = error instanceof Error ? error.message || error.name : `it threw ${short(error)}`
  return errors.pluginFailed(plugin, method, why, error, fix)
}

function short(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  const text = callSafely(() => JSON.stringify(value)) ?? typeof value
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

/** What a plugin returned may refuse to be written as JSON. */
function callSafely(run: () => string | undefined): string | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
