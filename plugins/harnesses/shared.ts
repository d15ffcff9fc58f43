import type { SessionEnd, SessionErrorKind, SessionReport, SessionUsage } from 'automaton'
import * as v from 'valibot'
import { retryTime } from './retry-time.ts'

/** Why a session failed. */
export type SessionError = NonNullable<SessionReport['error']>

/** A number of 0 or more; anything else counts as 0. */
export const count = v.fallback(v.pipe(v.number(), v.finite(), v.minValue(0)), 0)

/** A number of 0 or more, or null. */
export const amount = v.fallback(v.nullable(v.pipe(v.number(), v.finite(), v.minValue(0))), null)

/** A text; anything else counts as none. */
export const words = v.fallback(v.nullable(v.string()), null)

/** No message and no report of an error is longer, in characters. */
const longestMessage = 1 << 20
const longestReason = 500

/**
 * The object of one line of output, as far as the schema reads it; null for a line that holds none. Terminal escapes
 * and notices may stand before it. Takes time linear in the line, whatever is in it.
 */
export function readLine<S extends v.GenericSchema>(schema: S, line: string): v.InferOutput<S> | null {
  const start = line.indexOf('{"')
  return start === -1 ? null : readObject(schema, line.slice(start))
}

/** The same for a text that is one object. */
export function readObject<S extends v.GenericSchema>(schema: S, text: string): v.InferOutput<S> | null {
  try {
    const parsed = v.safeParse(schema, JSON.parse(text))
    return parsed.success ? parsed.output : null
  } catch {
    return null
  }
}

/** Collects the agent's words since its last use of a tool. Of too many only the end stays, where the verdict is. */
export class LastWords {
  #parts: string[] = []
  #length = 0

  /** Adds one piece; pieces of the same message come without anything between them. */
  add(text: string): void {
    this.#parts.push(text)
    this.#length += text.length
    if (this.#length > 2 * longestMessage) this.#parts = [this.text().slice(-longestMessage)]
    if (this.#parts.length === 1) this.#length = this.#parts[0]?.length ?? 0
  }

  /** A tool is used: what was said before it is not the last word. */
  clear(): void {
    this.#parts = []
    this.#length = 0
  }

  text(): string {
    return this.#parts.join('')
  }
}

/** A text as a final message: null when it says nothing, and its end when it is too long to be read. */
export function finalMessage(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text.slice(-longestMessage)
}

/** Tokens by where they went; `cached` ones are none of `input`. */
export function usageOf(parts: {
  input: number
  output: number
  cached: number
  usd?: number | null
}): SessionUsage {
  const { input, output, cached, usd = null } = parts
  return { usd, tokens: input + output + cached, input, output, cached }
}

/** What a CLI that reports nothing has spent. */
export const unknownUsage: SessionUsage = { usd: null, tokens: null }

/** What is known of a failure. */
export interface Clue {
  message: string
  /** The CLI's own name for it. */
  name?: string
  /** The HTTP status. */
  status?: number | null
}

/** A failure in automaton's terms. `at` is when it was seen: an end of a limit is often told from then. */
export function sessionError(clue: Clue, at: string): SessionError {
  const message = plain(clue.message || clue.name || 'an error without a reason')
  const retryAt = retryTime(clue.message, at)
  const kind = kindOf(clue, retryAt !== null)
  const ends = kind === 'rate_limit' || kind === 'overloaded'
  return ends && retryAt !== null ? { kind, message, retryAt } : { kind, message }
}

const loggedOut =
  /\b401\b|unauthori[sz]ed|authenticat|not logged in|log ?in\b|api.?key|auth method|missing environment variable/i

/** What the words and numbers of a failure mean, the surest first. */
function kindOf({ message, name = '', status = null }: Clue, isTimed: boolean): SessionErrorKind {
  const says = (pattern: RegExp) => pattern.test(message) || pattern.test(name)
  if (status === 401 || status === 403) return 'login'
  // A limit that ends by itself comes in the same words as an empty account.
  if (isTimed && (status === 429 || says(/limit|quota|too many requests|exhausted/i))) return 'rate_limit'
  if (
    status === 402 ||
    says(
      /credit|billing|exceeded.{0,30}quota|quota.{0,20}exceeded|insufficient[_ ](?:quota|funds|balance|credits?)/i,
    )
  )
    return 'credit'
  if (says(/rate.?limit|too many requests|(?:usage|session|weekly) limit/i) || status === 429)
    return 'rate_limit'
  if (says(/\b(?:503|529)\b|overloaded|high demand|at capacity/i) || status === 503 || status === 529)
    return 'overloaded'
  if (says(/no auth type|model.{0,40}not.?found|not.?found.{0,20}model|unknown (?:model|provider)/i))
    return 'config'
  if (/auth/i.test(name) || says(loggedOut)) return 'login'
  if (says(/config|notfound/i)) return 'config'
  return says(/\b429\b/) ? 'rate_limit' : 'other'
}

/** What a CLI says that ended badly without an event that tells why: the line of standard error that looks like it. */
export function exitError(name: string, { exitCode, stderr, at }: SessionEnd): SessionError | null {
  if (exitCode === 0 || exitCode === null) return null
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const told = lines.find((line) => /^\W{0,8}error\b/i.test(line)) ?? lines.at(-1) ?? ''
  const message = `${name} exited with ${exitCode}${told === '' ? '' : `: ${plain(told)}`}`
  return sessionError({ message }, at)
}

/** One line without terminal escapes. */
export function plain(text: string): string {
  return Bun.stripANSI(text).replace(/\s+/g, ' ').trim().slice(0, longestReason)
}
