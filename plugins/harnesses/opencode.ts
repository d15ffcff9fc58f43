import { definePlugin } from 'automaton'
import { providerKeys } from './keys.ts'
import { opencodeReader } from './opencode-reader.ts'

/** opencode's own settings. */
const variables = [
  'OPENCODE_CONFIG',
  'OPENCODE_CONFIG_CONTENT',
  'OPENCODE_CONFIG_DIR',
  'OPENCODE_PERMISSION',
  'OPENCODE_API_KEY',
  'OPENCODE_DISABLE_MODELS_FETCH',
  'OPENCODE_DISABLE_LSP_DOWNLOAD',
  'OPENCODE_DISABLE_DEFAULT_PLUGINS',
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
      env: [...variables, ...providerKeys],
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
