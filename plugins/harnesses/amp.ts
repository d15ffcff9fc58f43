import { definePlugin } from 'automaton'
import { streamJsonReader } from './stream-json.ts'

/** Drives Amp. It chooses models by itself; what `roles.*.model` names is one of its modes (`smart`, `rush`). */
export default definePlugin({
  name: 'amp',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['amp'],
      remote: true,
      env: ['AMP_API_KEY', 'AMP_URL'],
      writes: ['~/.amp', '~/.config/amp', '~/.cache/amp', '~/.local/share/amp'],
      command: ({ model, prompt }) => ({
        argv: [
          ...['amp', '--execute', '--stream-json', '--dangerously-allow-all', '--no-ide'],
          ...(model === null ? [] : ['--mode', model]),
        ],
        stdin: prompt,
      }),
      reader: () => streamJsonReader({ name: 'amp', usage: 'steps' }),
    },
  }),
})
