import { definePlugin, type OutputReader } from 'automaton'
import { providerKeys } from './keys.ts'
import { exitError, finalMessage, LastWords, plain, sessionError } from './shared.ts'

/**
 * Drives Aider. It edits files and runs no commands, so its orchestrate session ends with the JSON that says what to do.
 * Its histories go to the folder of the session's papers, and its map of the repository is left out: both would lie
 * in the worktree as changes out of scope.
 */
export default definePlugin({
  name: 'aider',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['aider'],
      env: [...providerKeys, 'OPENAI_API_BASE', 'OLLAMA_API_BASE', 'AIDER_MODEL', 'AIDER_WEAK_MODEL'],
      writes: ['~/.aider'],
      command: ({ model, promptFile, output }) => ({
        argv: [
          ...['aider', '--message-file', promptFile, '--yes-always', '--no-stream', '--no-pretty'],
          ...['--no-auto-commits', '--no-dirty-commits', '--no-gitignore', '--map-tokens', '0'],
          ...['--chat-history-file', output.replace(/[^\\/]*$/, 'aider-chat.md')],
          ...['--input-history-file', output.replace(/[^\\/]*$/, 'aider-input')],
          ...['--no-check-update', '--no-show-release-notes', '--no-show-model-warnings', '--no-analytics'],
          ...['--no-suggest-shell-commands', '--no-detect-urls', '--no-fancy-input'],
          ...(model === null ? [] : ['--model', model]),
        ],
      }),
      reader: aiderReader,
    },
  }),
})

/** What it writes for a person besides the model's words. */
const notice =
  /^(?:Aider v|Main model:|Model:|Weak model:|Editor model:|Git repo:|Repo-map:|Added |Applied edit to |Use \/help |Warning: |https:\/\/aider\.chat)/
const failure = /^(?:litellm\.\w+|The API provider (?:is not able|has|is)|Model .* has hit|Unable to )/

/** Reads plain text: banner, words, a line of tokens, what was edited; again for each answer. */
function aiderReader(): OutputReader {
  const said = new LastWords()
  let answered: string | null = null
  let tokens: number | null = null
  let usd: number | null = null
  let failed: string | null = null
  return {
    line(line) {
      const text = Bun.stripANSI(line).trimEnd()
      const report = /^Tokens: (.+?) received\./.exec(text)
      if (failure.test(text)) failed = failed === null ? text : `${failed} ${text}`.slice(0, 4096)
      if (report) {
        answered = said.text()
        said.clear()
        failed = null
        tokens = (tokens ?? 0) + tokensIn(report[1] ?? '')
      } else if (!notice.test(text)) said.add(`${text}\n`)
      const cost = /\bCost: \$[\d.,]+ message, \$([\d.,]+) session/.exec(text)
      if (cost) usd = numberIn(cost[1] ?? '') ?? usd
    },
    end(end) {
      const isGood = answered !== null && failed === null
      const error =
        failed !== null
          ? sessionError({ message: plain(failed) }, end.at)
          : isGood
            ? null
            : exitError('aider', end)
      return {
        finalMessage: isGood ? finalMessage(answered?.trim() ?? null) : null,
        sessionId: null,
        usage: { usd, tokens },
        finished: isGood,
        error,
      }
    },
  }
}

/** The sum of "2.3k sent, 1k cache hit, 340": it rounds to three digits. What came from the cache was sent as well. */
function tokensIn(text: string): number {
  const parts = [...text.matchAll(/([\d.,]+)([kM]?)( cache (?:hit|write))?/g)]
  const numbers = parts.map(([, number, unit, cache]) => {
    const value = (numberIn(number ?? '') ?? 0) * (unit === 'k' ? 1e3 : unit === 'M' ? 1e6 : 1)
    return cache === undefined ? value : 0
  })
  return Math.round(numbers.reduce((sum, one) => sum + one, 0))
}

function numberIn(text: string): number | null {
  const value = Number(text.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}
