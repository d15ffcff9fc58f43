import { definePlugin } from 'automaton'

/** Drives an agent that reads its prompt from standard input, and whose output is its answer. */
export default definePlugin({
  name: 'my-harness',
  api: 1,
  role: 'harness',
  setup: () => ({
    harness: {
      // What must be on PATH: a tick without it is refused.
      programs: ['my-agent'],
      // Variables of yours that its sessions need; all others stay out.
      env: ['MY_AGENT_API_KEY'],
      // Folders that it must write although its sandbox is closed.
      writes: ['~/.my-agent'],
      command: ({ model, prompt }) => ({
        argv: ['my-agent', ...(model === null ? [] : ['--model', model])],
        stdin: prompt,
      }),
      reader: () => ({
        // Agents that print one JSON object a line are read here as they go.
        line() {},
        end: ({ exitCode, stdout }) => ({
          finalMessage: stdout.trim() === '' ? null : stdout,
          sessionId: null,
          usage: { usd: null, tokens: null },
          finished: exitCode === 0,
          error: null,
        }),
      }),
    },
  }),
})
