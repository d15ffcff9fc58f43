import { definePlugin } from 'automaton'
import { streamJsonReader } from './stream-json.ts'

/**
 * Drives Cursor's agent (`cursor-agent`). Its closing event repeats all that was said, so the words after the last tool
 * are the final message. A policy of its account's administrator can forbid `--force`: it then ends with an error.
 */
export default definePlugin({
  name: 'cursor',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      programs: ['cursor-agent'],
      remote: true,
      env: ['CURSOR_API_KEY'],
      writes: ['~/.cursor', '~/.config/cursor'],
      command: ({ model, prompt, contained }) => ({
        argv: [
          ...['cursor-agent', '--print', '--output-format', 'stream-json', '--force', '--trust'],
          ...(contained ? ['--sandbox', 'disabled'] : []),
          ...(model === null ? [] : ['--model', model]),
        ],
        stdin: prompt,
      }),
      reader: () => streamJsonReader({ name: 'cursor-agent', message: 'words' }),
    },
  }),
})
