import { definePlugin } from 'automaton'
import { providerKeys } from './keys.ts'
import { streamJsonReader } from './stream-json.ts'

/**
 * Drives Qwen Code (0.24). Its own settings (`~/.qwen/settings.json`) say how it logs in. What it wants to remember goes
 * away with the session's papers: a session must not speak to the next one past its verdict.
 */
export default definePlugin({
  name: 'qwen',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['qwen'],
      env: [...providerKeys, 'OPENAI_MODEL', 'DASHSCOPE_API_KEY', 'QWEN_TELEMETRY_ENABLED'],
      writes: ['~/.qwen'],
      command: ({ model, prompt, output }) => ({
        argv: [
          ...['qwen', '--output-format', 'stream-json', '--approval-mode', 'yolo'],
          ...(model === null ? [] : ['--model', model]),
        ],
        stdin: prompt,
        env: {
          QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
          QWEN_CODE_MEMORY_BASE_DIR: output.replace(/[\\/][^\\/]*$/, ''),
        },
      }),
      reader: () => streamJsonReader({ name: 'qwen' }),
    },
  }),
})
