import type { OutputReader, SessionReport, SessionUsage } from 'automaton'
import * as v from 'valibot'
import { untilIso } from './retry-time.ts'
import {
  amount,
  type Clue,
  count,
  exitError,
  finalMessage,
  LastWords,
  readLine,
  type SessionError,
  sessionError,
  unknownUsage,
  usageOf,
  words,
} from './shared.ts'

const tokens = v.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  total_tokens: amount,
})
const perModel = v.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
})
/** Cursor's names for the same. */
const camelTokens = v.object({
  inputTokens: v.number(),
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
})
const message = v.object({
  content: v.fallback(v.array(v.object({ type: words, text: words })), []),
  usage: v.fallback(v.nullable(tokens), null),
})

/** One line, as far as it is read. Everything but the type may be missing, or be of another kind in other versions. */
const event = v.object({
  type: v.string(),
  subtype: words,
  session_id: words,
  message: v.fallback(v.nullable(message), null),
  result: words,
  is_error: v.fallback(v.boolean(), false),
  error: v.optional(v.unknown()),
  error_status: amount,
  api_error_status: amount,
  total_cost_usd: amount,
  usage: v.optional(v.unknown()),
  modelUsage: v.fallback(v.record(v.string(), perModel), {}),
  rate_limit_info: v.fallback(v.nullable(v.object({ status: words, resetsAt: amount })), null),
})
type Event = v.InferOutput<typeof event>

/** How the CLIs that write this format differ. */
export interface StreamJsonOptions {
  /** The CLI's name, for errors. */
  name: string
  /** `words`: the closing event repeats everything that was said, so what came after the last tool counts. */
  message?: 'result' | 'words'
  /** `steps`: the closing event names no tokens, and each answer names its own. */
  usage?: 'result' | 'steps'
}

/** Reads `--output-format stream-json` as Claude Code writes it, and those that took it over: Qwen Code, Cursor, Amp. */
export function streamJsonReader(options: StreamJsonOptions): OutputReader {
  const said = new LastWords()
  let sessionId: string | null = null
  let closing: Event | null = null
  let steps: SessionUsage | null = null
  /** The failure that the CLI tries to get over, and the kind that it gives to the one it cannot. */
  let trouble: Clue | null = null
  let resetsAt: number | null = null
  let label = ''
  return {
    line(line) {
      const found = readLine(event, line)
      if (!found) return
      sessionId = found.session_id ?? sessionId
      const { type, subtype } = found
      if (type === 'rate_limit_event' && found.rate_limit_info?.status === 'rejected')
        resetsAt = found.rate_limit_info.resetsAt
      if (type === 'system' && subtype !== null && /retry/.test(subtype)) trouble = clueOf(found)
      if (type === 'tool_call' || type === 'tool_use') said.clear()
      if (type === 'result') closing = found
      if (type !== 'assistant') return
      closing = null
      label = typeof found.error === 'string' ? found.error : ''
      if (label === '') trouble = null
      for (const part of found.message?.content ?? []) {
        if (part.type === 'tool_use') said.clear()
        else if (part.type === 'text' && part.text !== null) said.add(part.text)
      }
      if (found.message?.usage) steps = sum(steps, partsOf(found.message.usage))
    },
    end(end): SessionReport {
      const error = closing
        ? closingError(closing, { label, at: end.at, resetsAt })
        : trouble
          ? sessionError(
              {
                ...trouble,
                message: `${options.name} tries again: ${lately(end.stderr) ?? trouble.message}`,
              },
              end.at,
            )
          : exitError(options.name, end)
      const reported = closing && usageIn(closing)
      return {
        finalMessage: error ? null : finalMessage(closing && lastWords(options, closing, said)),
        sessionId,
        usage: reported ?? (options.usage === 'steps' ? steps : null) ?? unknownUsage,
        finished: closing !== null && error === null,
        error,
      }
    },
  }
}

function lastWords({ message }: StreamJsonOptions, { result }: Event, said: LastWords): string | null {
  return message === 'words' ? said.text() || result : result
}

function clueOf({ error, error_status, subtype }: Event): Clue {
  const message = textOf(error) ?? subtype ?? ''
  return { message: error_status === null ? message : `${message} (${error_status})`, status: error_status }
}

/** The last error that standard error tells: Qwen Code names the reason of a retry only there. */
function lately(stderr: string): string | null {
  return stderr.split('\n').findLast((line) => /\berror\b/i.test(line)) ?? null
}

/** `subtype` is "success" also for a refused key: `is_error` decides, and so does any other subtype. */
function closingError(
  { is_error, subtype, result, error, api_error_status }: Event,
  { label, at, resetsAt }: { label: string; at: string; resetsAt: number | null },
): SessionError | null {
  if (!is_error && (subtype === 'success' || subtype === null)) return null
  const message = textOf(error) ?? result ?? ''
  const found = sessionError(
    { message: message || (subtype ?? ''), name: label, status: api_error_status },
    at,
  )
  const retryAt = resetsAt === null ? null : untilIso(resetsAt * 1000, Date.parse(at))
  return retryAt === null || found.kind === 'login' ? found : { ...found, kind: 'rate_limit', retryAt }
}

function textOf(error: unknown): string | null {
  if (typeof error === 'string') return error
  const inner = v.safeParse(v.object({ message: v.string() }), error)
  return inner.success ? inner.output.message : null
}

/** Claude's sum by model is of the whole process, whatever model a helper of its own used; `usage` is of one answer. */
function usageIn({ modelUsage, usage, total_cost_usd: usd }: Event): SessionUsage | null {
  const models = Object.values(modelUsage)
  if (models.length > 0) {
    const total = (pick: (model: (typeof models)[number]) => number) =>
      models.reduce((n, one) => n + pick(one), 0)
    return usageOf({
      input: total((one) => one.inputTokens + one.cacheCreationInputTokens),
      output: total((one) => one.outputTokens),
      cached: total((one) => one.cacheReadInputTokens),
      usd,
    })
  }
  const camel = v.safeParse(camelTokens, usage)
  if (camel.success) {
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = camel.output
    return usageOf({
      input: inputTokens + cacheWriteTokens,
      output: outputTokens,
      cached: cacheReadTokens,
      usd,
    })
  }
  const plain = v.safeParse(tokens, usage)
  if (plain.success) return usageOf({ ...partsOf(plain.output), usd })
  return usd === null ? null : { usd, tokens: null }
}

/** Where a total is named, the cached tokens are part of the input; else they come beside it. */
function partsOf(usage: v.InferOutput<typeof tokens>) {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, total_tokens } =
    usage
  const isPart = total_tokens !== null && total_tokens === input_tokens + output_tokens
  const cached = isPart ? Math.min(cache_read_input_tokens, input_tokens) : cache_read_input_tokens
  const input = isPart ? input_tokens - cached : input_tokens + cache_creation_input_tokens
  return { input, output: output_tokens, cached }
}

function sum(a: SessionUsage | null, b: { input: number; output: number; cached: number }): SessionUsage {
  return usageOf({
    input: (a?.input ?? 0) + b.input,
    output: (a?.output ?? 0) + b.output,
    cached: (a?.cached ?? 0) + b.cached,
  })
}
