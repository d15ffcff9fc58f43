import { definePlugin, type OutputReader, type SessionUsage } from 'automaton'
import * as v from 'valibot'
import {
  amount,
  count,
  exitError,
  finalMessage,
  readLine,
  readObject,
  sessionError,
  unknownUsage,
  usageOf,
  words,
} from './shared.ts'

const variables = [
  'COPILOT_GITHUB_TOKEN',
  'COPILOT_MODEL',
  'COPILOT_OFFLINE',
  'COPILOT_PROVIDER_API_KEY',
  'COPILOT_PROVIDER_BASE_URL',
  'COPILOT_PROVIDER_BEARER_TOKEN',
  'COPILOT_PROVIDER_TYPE',
  'COPILOT_PROVIDER_WIRE_API',
]

const report = 'copilot-usage.json'

/**
 * Drives GitHub Copilot CLI (1.0). It tells its tokens in a file alone. Without automaton's sandbox it keeps to the
 * worktree and the temporary folder by itself; inside of it that would only be in the way.
 */
export default definePlugin({
  name: 'copilot',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['copilot'],
      remote: true,
      env: variables,
      writes: ['~/.copilot', '~/.cache/copilot'],
      command: ({ model, prompt, output, contained }) => ({
        argv: [
          ...['copilot', '--output-format', 'json', '--no-color'],
          ...['--no-ask-user', '--no-auto-update', '--allow-all-tools'],
          ...(contained ? ['--allow-all-paths'] : []),
          ...['--usage-output-file', output.replace(/[^\\/]*$/, report)],
          ...(model === null ? [] : ['--model', model]),
        ],
        stdin: prompt,
        report,
      }),
      reader: copilotReader,
    },
  }),
})

const event = v.object({
  type: v.string(),
  sessionId: words,
  exitCode: amount,
  data: v.fallback(
    v.nullable(v.object({ content: words, message: words, errorType: words, statusCode: amount })),
    null,
  ),
})
type Data = NonNullable<v.InferOutput<typeof event>['data']>

const account = v.object({
  modelMetrics: v.record(
    v.string(),
    v.object({
      usage: v.object({
        inputTokens: count,
        outputTokens: count,
        cacheReadTokens: count,
        cacheWriteTokens: count,
      }),
    }),
  ),
})

/** Reads the lines of one run. Each message comes whole. */
function copilotReader(): OutputReader {
  let said: string | null = null
  let sessionId: string | null = null
  let exitCode: number | null = null
  let failed: Data | null = null
  let trouble: Data | null = null
  return {
    line(line) {
      const found = readLine(event, line)
      if (!found) return
      const { type, data } = found
      if (type === 'tool.execution_start') said = null
      if (type === 'model.call_failure') trouble = data
      if (type === 'session.error') failed = data
      if (type === 'assistant.message' && data?.content) {
        said = data.content
        trouble = null
      }
      if (type !== 'result') return
      sessionId = found.sessionId
      exitCode = found.exitCode
    },
    end(end) {
      const isGood = exitCode === 0 && failed === null
      const error = isGood ? null : (errorOf(failed ?? trouble, end.at) ?? exitError('copilot', end))
      return {
        finalMessage: isGood ? finalMessage(said) : null,
        sessionId,
        usage: (end.report === null ? null : usageIn(end.report)) ?? unknownUsage,
        finished: isGood,
        error,
      }
    },
  }
}

function errorOf(data: Data | null, at: string) {
  if (!data) return null
  const { message, errorType, statusCode } = data
  return sessionError({ message: message ?? '', name: errorType ?? '', status: statusCode }, at)
}

/** The input includes what came from the cache. */
function usageIn(text: string): SessionUsage | null {
  const found = readObject(account, text)
  if (!found) return null
  const all = Object.values(found.modelMetrics).map(({ usage }) => usage)
  const total = (pick: (usage: (typeof all)[number]) => number) => all.reduce((n, one) => n + pick(one), 0)
  const read = total((one) => Math.min(one.cacheReadTokens, one.inputTokens))
  const input = total((one) => one.inputTokens) - read
  return usageOf({ input, cached: read, output: total((one) => one.outputTokens) })
}
