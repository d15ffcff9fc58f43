import { definePlugin, type OutputReader } from 'automaton'
import * as v from 'valibot'
import { providerKeys } from './keys.ts'
import { amount, exitError, finalMessage, LastWords, readLine, sessionError, words } from './shared.ts'

/** Drives Goose (`goose run`). It reports one number of tokens, and ends well even when its provider refused it. */
export default definePlugin({
  name: 'goose',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['goose'],
      env: [
        ...providerKeys,
        ...['GOOSE_PROVIDER', 'GOOSE_MODEL', 'GOOSE_DISABLE_KEYRING', 'GOOSE_MAX_TURNS', 'GOOGLE_API_KEY'],
        ...['OPENAI_HOST', 'ANTHROPIC_HOST', 'OLLAMA_HOST'],
      ],
      writes: ['~/.config/goose', '~/.local/share/goose', '~/.local/state/goose'],
      command: ({ model, prompt }) => ({
        argv: [
          ...['goose', 'run', '--no-session', '--quiet', '--output-format', 'stream-json'],
          ...(model === null ? [] : ['--model', model]),
          ...['--instructions', '-'],
        ],
        stdin: prompt,
        env: { GOOSE_MODE: 'auto' },
      }),
      reader: gooseReader,
    },
  }),
})

const event = v.object({
  type: v.string(),
  error: words,
  total_tokens: amount,
  message: v.fallback(
    v.nullable(
      v.object({ role: words, content: v.fallback(v.array(v.object({ type: words, text: words })), []) }),
    ),
    null,
  ),
})

/** How it tells, as the model's own words, that its provider failed. */
const refused = /^Ran into this error: ([\s\S]*?)\.?\s*(?:Please retry if you think|$)/

/** Reads the lines of one run. Words come in pieces. */
function gooseReader(): OutputReader {
  const said = new LastWords()
  let tokens: number | null = null
  let ended = false
  let failed: string | null = null
  return {
    line(line) {
      const found = readLine(event, line)
      if (!found) return
      const { type, message } = found
      if (type === 'error') failed ??= found.error ?? 'goose reported an error without a reason'
      if (type === 'complete') {
        ended = true
        tokens = found.total_tokens
      }
      if (type !== 'message') return
      for (const part of message?.content ?? []) {
        if (part.type === 'toolRequest' || part.type === 'toolResponse') said.clear()
        else if (message?.role === 'assistant' && part.type === 'text') said.add(part.text ?? '')
      }
    },
    end(end) {
      const words = said.text()
      const reason = failed ?? refused.exec(words)?.[1] ?? null
      const error =
        reason === null ? (ended ? null : exitError('goose', end)) : sessionError({ message: reason }, end.at)
      return {
        finalMessage: error ? null : finalMessage(words),
        sessionId: null,
        usage: { usd: null, tokens },
        finished: ended && error === null,
        error,
      }
    },
  }
}
