import { definePlugin } from 'automaton'
import { providerKeys } from './keys.ts'
import { streamJsonReader } from './stream-json.ts'

/** Drives Qwen Code (0.24). Its own settings (`~/.qwen/settings.json`) say how it logs in. */
export default definePlugin({
  name: 'qwen',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['qwen'],
      env: [...providerKeys, 'OPENAI_MODEL', 'DASHSCOPE_API_KEY', 'QWEN_TELEMETRY_ENABLED'],
      writes: ['~/.qwen'],
      command: ({ model, prompt }) => ({
        argv: [
          ...['qwen', '--output-format', 'stream-json', '--approval-mode', 'yolo'],
          ...(model === null ? [] : ['--model', model]),
        ],
        stdin: prompt,
        env: { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
      }),
      reader: () => streamJsonReader({ name: 'qwen' }),
    },
  }),
})
