import type { OutputReader, SessionUsage } from 'automaton'
import * as v from 'valibot'
import {
  count,
  exitError,
  finalMessage,
  plain,
  readLine,
  type SessionError,
  sessionError,
  unknownUsage,
  usageOf,
} from './shared.ts'

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
            input: count,
            output: count,
            reasoning: count,
            cache: v.optional(v.object({ read: count, write: count })),
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

type Part = v.InferOutput<typeof event>['part']
type Tokens = NonNullable<Part['tokens']>

/** A step that ends with one of these goes on; any other reason ends the run. */
const goesOn = ['tool-calls', 'tool_calls']

/** Reads the lines of one run. */
export function opencodeReader(): OutputReader {
  const texts = new Map<string, string>()
  let usage: SessionUsage = unknownUsage
  let sessionId: string | null = null
  let ended = false
  let failed: { error: unknown } | null = null
  return {
    line(line) {
      const found = readLine(event, line)
      if (!found) return
      const { type, part } = found
      sessionId ??= found.sessionID
      if (type === 'text' && part.text !== undefined) texts.set(part.id ?? `#${texts.size}`, part.text)
      if (type === 'tool_use') texts.clear()
      if (type === 'tool_use' || type === 'step_start') ended = false
      if (type === 'error') failed ??= { error: found.error }
      if (type !== 'step_finish') return
      ended = part.reason !== undefined && !goesOn.includes(part.reason)
      usage = add(usage, part)
    },
    end(end) {
      const error = failed
        ? errorOf(failed.error, end.at)
        : (rejected(end.stderr, ended) ?? exitError('opencode', end))
      return {
        finalMessage: finalMessage([...texts.values()].join('\n')),
        sessionId,
        usage,
        finished: ended && error === null,
        error,
      }
    },
  }
}

/** Each step tells its own cost. */
function add(sum: SessionUsage, { cost, tokens }: Part): SessionUsage {
  const usd = cost === undefined ? sum.usd : (sum.usd ?? 0) + cost
  if (!tokens) return { ...sum, usd }
  const step = usageIn(tokens)
  return {
    usd,
    tokens: (sum.tokens ?? 0) + step.tokens,
    input: (sum.input ?? 0) + (step.input ?? 0),
    output: (sum.output ?? 0) + (step.output ?? 0),
    cached: (sum.cached ?? 0) + (step.cached ?? 0),
  }
}

function usageIn({ input, output, reasoning, cache, total }: Tokens) {
  const parts = usageOf({
    input: input + (cache?.write ?? 0),
    output: output + reasoning,
    cached: cache?.read ?? 0,
  })
  return { ...parts, tokens: total ?? parts.tokens ?? 0 }
}

function errorOf(raw: unknown, at: string): SessionError {
  const parsed = v.safeParse(failure, raw)
  const { name, data } = parsed.success
    ? parsed.output
    : { name: '', data: { message: '', statusCode: null } }
  const found = sessionError({ message: data.message, name, status: data.statusCode }, at)
  return name && data.message ? { ...found, message: `${name}: ${found.message}` } : found
}

/** opencode rejects by itself what its permissions want to ask, stops there, and exits with 0. */
function rejected(stderr: string, ended: boolean): SessionError | null {
  const line = stderr.split('\n').find((text) => text.includes('auto-rejecting'))
  if (ended || line === undefined) return null
  return { kind: 'config', message: `opencode rejected a permission: ${plain(line)}` }
}
