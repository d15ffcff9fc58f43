import { definePlugin } from 'automaton'
import { streamJsonReader } from './stream-json.ts'

const variables = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_CUSTOM_HEADERS',
  'ANTHROPIC_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_VERTEX_PROJECT_ID',
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
  'CLAUDE_CODE_MAX_RETRIES',
  'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
  'CLOUD_ML_REGION',
  'MAX_THINKING_TOKENS',
  'API_TIMEOUT_MS',
  'BASH_DEFAULT_TIMEOUT_MS',
  'BASH_MAX_TIMEOUT_MS',
  'AWS_REGION',
  'AWS_BEARER_TOKEN_BEDROCK',
]

/**
 * Makes it ask automaton before each edit, so that one out of scope is refused before it happens. A hook that fails lets
 * the edit pass; here every failure is a refusal, the missing program and the variable that is not set included.
 */
const settings = JSON.stringify({
  hooks: {
    PreToolUse: [
      {
        matcher: 'Edit|MultiEdit|Write|NotebookEdit',
        hooks: [{ type: 'command', command: '"$AUTOMATON_BIN" hook-check claude || exit 2', timeout: 60 }],
      },
    ],
  },
})

/**
 * Drives Claude Code (2.1). Edits are accepted in the worktree alone and every shell command is, which is what an
 * unattended session needs; the mode that asks for nothing at all refuses to run as root. `~/.claude.json` is left out
 * of what it writes: it does without. It remembers nothing: a session must not speak to the next one past its verdict.
 */
export default definePlugin({
  name: 'claude',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['claude'],
      remote: true,
      env: variables,
      writes: ['~/.claude'],
      login: ['auth', 'status'],
      command: ({ model, prompt, cwd }) => ({
        argv: [
          ...['claude', '--print', '--output-format', 'stream-json', '--verbose'],
          ...['--permission-mode', 'acceptEdits', '--allowedTools=Bash'],
          // Which shell would read the hook elsewhere was not tried; drift is noticed all the same.
          ...(cwd.startsWith('/') ? ['--settings', settings] : []),
          ...(model === null ? [] : ['--model', model]),
        ],
        stdin: prompt,
        env: { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' },
      }),
      reader: () => streamJsonReader({ name: 'claude' }),
    },
  }),
})
