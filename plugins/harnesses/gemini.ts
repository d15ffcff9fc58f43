import { definePlugin, type OutputReader } from 'automaton'
import * as v from 'valibot'
import {
  amount,
  count,
  exitError,
  finalMessage,
  LastWords,
  readLine,
  sessionError,
  unknownUsage,
  usageOf,
  words,
} from './shared.ts'

const variables = [
  'GEMINI_API_KEY',
  'GEMINI_MODEL',
  'GOOGLE_API_KEY',
  'GOOGLE_GEMINI_BASE_URL',
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_CLOUD_LOCATION',
  'GOOGLE_GENAI_USE_GCA',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GEMINI_CLI_NO_RELAUNCH',
]

/** Drives Gemini CLI (0.61). In a folder that it does not trust it would ask, and end with exit code 55. */
export default definePlugin({
  name: 'gemini',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['gemini'],
      remote: true,
      env: variables,
      writes: ['~/.gemini'],
      command: ({ model, prompt }) => ({
        argv: [
          ...['gemini', '--output-format', 'stream-json', '--approval-mode', 'yolo'],
          ...(model === null ? [] : ['--model', model]),
        ],
        stdin: prompt,
        env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
      }),
      reader: geminiReader,
    },
  }),
})

const event = v.object({
  type: v.string(),
  session_id: words,
  role: words,
  content: words,
  status: words,
  error: v.fallback(v.nullable(v.object({ type: words, message: words })), null),
  stats: v.fallback(
    v.nullable(v.object({ total_tokens: amount, input_tokens: count, output_tokens: count, cached: count })),
    null,
  ),
})
type Event = v.InferOutput<typeof event>

/** Reads the lines of one run. The model's words come in pieces, and not again at the end. */
function geminiReader(): OutputReader {
  const said = new LastWords()
  let sessionId: string | null = null
  let closing: Event | null = null
  return {
    line(line) {
      const found = readLine(event, line)
      if (!found) return
      const { type } = found
      if (type === 'init') sessionId ??= found.session_id
      if (type === 'tool_use' || type === 'tool_result') said.clear()
      if (type === 'message' && found.role === 'assistant') said.add(found.content ?? '')
      if (type === 'result') closing = found
    },
    end(end) {
      const isGood = closing?.status === 'success'
      const message =
        closing?.error?.message ?? closing?.error?.type ?? 'gemini reported an error without a reason'
      const name = closing?.error?.type ?? ''
      const status = statusOf(end.exitCode)
      const error = isGood
        ? null
        : closing
          ? sessionError({ message, name, status }, end.at)
          : exitError('gemini', end)
      return {
        finalMessage: isGood ? finalMessage(said.text()) : null,
        sessionId,
        usage: (closing && usageIn(closing)) ?? unknownUsage,
        finished: isGood,
        error,
      }
    },
  }
}

/** The exit code is the HTTP status without its upper bits: 401 comes as 145, 429 as 173. */
function statusOf(exitCode: number | null): number | null {
  return [401, 402, 403, 429, 503, 529].find((status) => status % 256 === exitCode) ?? null
}

function usageIn({ stats }: Event) {
  if (!stats || stats.total_tokens === null) return null
  const cached = Math.min(stats.cached, stats.input_tokens)
  const input = stats.input_tokens - cached
  // What the model thought is in the total alone.
  const output = Math.max(stats.output_tokens, stats.total_tokens - stats.input_tokens)
  return usageOf({ input, cached, output })
}
