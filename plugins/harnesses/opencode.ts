import { definePlugin } from 'automaton'
import { opencodeReader } from './opencode-reader.ts'

/**
 * opencode's own settings, and the keys that open a model and nothing else. A key that also opens a repository or an
 * account (`GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`) reaches sessions only when `harness.env` names it.
 */
const variables = [
  'OPENCODE_CONFIG',
  'OPENCODE_CONFIG_CONTENT',
  'OPENCODE_CONFIG_DIR',
  'OPENCODE_PERMISSION',
  'OPENCODE_API_KEY',
  'OPENCODE_DISABLE_MODELS_FETCH',
  'OPENCODE_DISABLE_LSP_DOWNLOAD',
  'OPENCODE_DISABLE_DEFAULT_PLUGINS',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'OPENROUTER_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'GOOGLE_CLOUD_PROJECT',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
  'MOONSHOT_API_KEY',
  'ZHIPU_API_KEY',
  'CEREBRAS_API_KEY',
  'TOGETHER_API_KEY',
  'FIREWORKS_API_KEY',
  'AZURE_API_KEY',
  'AZURE_RESOURCE_NAME',
  'AWS_REGION',
  'AWS_BEARER_TOKEN_BEDROCK',
]

/**
 * Drives `opencode run` (opencode-ai 1.18). The prompt goes by standard input: as an argument it would reach the model
 * in quotes, and long ones would not start at all.
 */
export default definePlugin({
  name: 'opencode',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['opencode'],
      env: variables,
      writes: [
        '~/.cache/opencode',
        '~/.config/opencode',
        '~/.local/share/opencode',
        '~/.local/state/opencode',
      ],
      command: ({ model, prompt }) => ({
        argv: ['opencode', 'run', '--format', 'json', ...(model === null ? [] : ['--model', model])],
        stdin: prompt,
        env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
      }),
      reader: opencodeReader,
    },
  }),
})
