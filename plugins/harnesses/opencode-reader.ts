import type { OutputReader, SessionErrorKind, SessionReport } from 'automaton'
import * as v from 'valibot'

const count = v.fallback(v.pipe(v.number(), v.finite(), v.minValue(0)), 0)

/** One line of `opencode run --format json`, as far as it is read. Everything may be missing in other versions. */
const event = v.object({
  type: v.string(),
  sessionID: v.optional(v.fallback(v.nullable(v.string()), null), null),
  part: v.optional(
    v.fallback(
      v.object({
        id: v.optional(v.string()),
        text: v.optional(v.string()),
        reason: v.optional(v.string()),
        cost: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
        tokens: v.optional(
          v.object({
            total: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
            input: v.optional(count, 0),
            output: v.optional(count, 0),
            reasoning: v.optional(count, 0),
            cache: v.optional(v.object({ read: v.optional(count, 0), write: v.optional(count, 0) })),
          }),
        ),
      }),
      {},
    ),
    {},
  ),
  error: v.optional(v.unknown()),
})

const failure = v.object({
  name: v.optional(v.string(), ''),
  data: v.optional(
    v.object({
      message: v.optional(v.string(), ''),
      statusCode: v.optional(v.fallback(v.nullable(v.number()), null), null),
    }),
    {},
  ),
})

/** A step that ends with one of these goes on; any other reason ends the run. */
const goesOn = ['tool-calls', 'tool_calls']

/** Reads the lines of one run. */
export function opencodeReader(): OutputReader {
  const texts = new Map<string, string>()
  const usage: SessionReport['usage'] = { usd: null, tokens: null }
  let sessionId: string | null = null
  let ended = false
  let error: SessionReport['error'] = null
  return {
    line(line) {
      const found = parse(line)
      if (!found) return
      const { type, part } = found
      sessionId ??= found.sessionID
      if (type === 'text' && part.text !== undefined) texts.set(part.id ?? `#${texts.size}`, part.text)
      if (type === 'tool_use') texts.clear()
      if (type === 'tool_use' || type === 'step_start') ended = false
      if (type === 'error') error ??= errorOf(found.error)
      if (type !== 'step_finish') return
      ended = part.reason !== undefined && !goesOn.includes(part.reason)
      if (part.cost !== undefined) usage.usd = (usage.usd ?? 0) + part.cost
      if (part.tokens) usage.tokens = (usage.tokens ?? 0) + tokensOf(part.tokens)
    },
    end({ exitCode, stderr }) {
      error ??= rejected(stderr, ended) ?? failed(exitCode, stderr)
      const message = [...texts.values()].join('\n')
      return {
        finalMessage: message.trim() === '' ? null : message,
        sessionId,
        usage,
        finished: ended && error === null,
        error,
      }
    },
  }
}

/** Terminal escapes and notices may stand before the object; a line without one says nothing. */
function parse(line: string): v.InferOutput<typeof event> | null {
  const start = line.indexOf('{"')
  if (start === -1) return null
  try {
    const parsed = v.safeParse(event, JSON.parse(line.slice(start)))
    return parsed.success ? parsed.output : null
  } catch {
    return null
  }
}

function tokensOf({
  total,
  input,
  output,
  reasoning,
  cache,
}: NonNullable<v.InferOutput<typeof event>['part']['tokens']>) {
  return total ?? input + output + reasoning + (cache?.read ?? 0) + (cache?.write ?? 0)
}

function errorOf(raw: unknown): NonNullable<SessionReport['error']> {
  const parsed = v.safeParse(failure, raw)
  const { name, data } = parsed.success
    ? parsed.output
    : { name: '', data: { message: '', statusCode: null } }
  const message = data.message || name || 'opencode reported an error without a reason'
  return {
    kind: kindOf(name, message, data.statusCode),
    message: name && data.message ? `${name}: ${message}` : message,
  }
}

function kindOf(name: string, message: string, status: number | null): SessionErrorKind {
  if (status === 402 || /credit|billing|quota|insufficient (?:funds|balance)/i.test(message)) return 'credit'
  if (status === 401 || status === 403 || /auth/i.test(name)) return 'login'
  if (status === 429 || /rate.?limit|too many requests/i.test(message)) return 'rate_limit'
  if (status === 503 || status === 529 || /overloaded/i.test(message)) return 'overloaded'
  if (/config|modelnotfound|notfound/i.test(name) || /model not found|unknown provider/i.test(message))
    return 'config'
  return 'other'
}

/** opencode rejects by itself what its permissions want to ask, stops there, and exits with 0. */
function rejected(stderr: string, ended: boolean): SessionReport['error'] {
  const line = stderr.split('\n').find((text) => text.includes('auto-rejecting'))
  if (ended || line === undefined) return null
  return { kind: 'config', message: `opencode rejected a permission: ${plain(line)}` }
}

function failed(exitCode: number | null, stderr: string): SessionReport['error'] {
  if (exitCode === 0 || exitCode === null) return null
  const last = plain(stderr.trim().split('\n').at(-1) ?? '')
  return { kind: 'other', message: `opencode exited with ${exitCode}${last === '' ? '' : `: ${last}`}` }
}

/** opencode colours its notices whatever NO_COLOR says. */
function plain(text: string): string {
  return Bun.stripANSI(text).trim().slice(0, 300)
}
