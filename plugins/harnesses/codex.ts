import { definePlugin, type OutputReader, type SessionUsage } from 'automaton'
import * as v from 'valibot'
import {
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

const variables = [
  'CODEX_HOME',
  'CODEX_API_KEY',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'OPENAI_ORGANIZATION',
  'OPENAI_PROJECT',
  'OPENROUTER_API_KEY',
  'AZURE_OPENAI_API_KEY',
]

/**
 * Drives `codex exec` (0.171). Inside automaton's sandbox its own one is switched off: it would have to start a second
 * one in there. A login shell would put the system's PATH in the place of the session's, in which `automaton` is found.
 */
export default definePlugin({
  name: 'codex',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['codex'],
      remote: true,
      env: variables,
      writes: ['~/.codex'],
      login: ['login', 'status'],
      command: ({ model, prompt, contained }) => ({
        argv: [
          ...['codex', 'exec', '--json', '--color', 'never', '--skip-git-repo-check'],
          ...(contained ? ['--dangerously-bypass-approvals-and-sandbox'] : ['--sandbox', 'workspace-write']),
          ...['--config', 'allow_login_shell=false'],
          ...(model === null ? [] : ['--model', model]),
          '-',
        ],
        stdin: prompt,
      }),
      reader: codexReader,
    },
  }),
})

const event = v.object({
  type: v.string(),
  thread_id: words,
  message: words,
  error: v.fallback(v.nullable(v.object({ message: words })), null),
  item: v.fallback(v.nullable(v.object({ type: v.string(), text: words })), null),
  usage: v.fallback(
    v.nullable(v.object({ input_tokens: v.number(), cached_input_tokens: count, output_tokens: count })),
    null,
  ),
})

/** Items that are no use of a tool. */
const talk = ['agent_message', 'reasoning', 'todo_list', 'error']

/** Reads the lines of one run. The tokens of a turn are the sum up to it. */
function codexReader(): OutputReader {
  const said = new LastWords()
  let sessionId: string | null = null
  let usage: SessionUsage = unknownUsage
  let ended = false
  let failed: string | null = null
  /** What it tries to get over; a run that goes on got over it. */
  let trouble: string | null = null
  return {
    line(line) {
      const found = readLine(event, line)
      if (!found) return
      const { type, item } = found
      if (type === 'thread.started') sessionId ??= found.thread_id
      if (type === 'turn.started') ended = false
      if (type === 'error') trouble = found.message
      if (type === 'turn.failed') failed = found.error?.message ?? trouble ?? 'a turn failed without a reason'
      if (type === 'item.started' && item && !talk.includes(item.type)) said.clear()
      if (type === 'item.completed' && item?.type === 'agent_message') {
        said.clear()
        said.add(item.text ?? '')
        trouble = null
      }
      if (type !== 'turn.completed') return
      ended = true
      failed = null
      trouble = null
      if (found.usage) usage = usageIn(found.usage)
    },
    end(end) {
      const reason = failed ?? (ended ? null : trouble)
      const error: SessionError | null =
        reason === null ? (ended ? null : exitError('codex', end)) : sessionError({ message: reason }, end.at)
      return {
        finalMessage: error ? null : finalMessage(said.text()),
        sessionId,
        usage,
        finished: ended && error === null,
        error,
      }
    },
  }
}

/** The input includes what came from the cache, the output what it thought. */
function usageIn({
  input_tokens,
  cached_input_tokens,
  output_tokens,
}: NonNullable<v.InferOutput<typeof event>['usage']>) {
  const cached = Math.min(cached_input_tokens, input_tokens)
  return usageOf({ input: input_tokens - cached, cached, output: output_tokens })
}
