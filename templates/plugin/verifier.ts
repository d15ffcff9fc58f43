import { definePlugin } from 'automaton'
import * as v from 'valibot'

/** Passes when a program of the project exits with 0. */
export default definePlugin({
  name: 'my-verifier',
  api: 1,
  role: 'verifier',
  options: v.strictObject({
    /** The program and its arguments; no shell sees them. */
    command: v.optional(v.array(v.string()), ['npm', 'test']),
  }),
  setup: ({ options: { command } }) => ({
    verifier: {
      // It spends no agent session, so when it fails none is paid for after it.
      free: true,
      async verify(ctx) {
        const { exitCode, output } = await ctx.run(command, { timeoutSeconds: 600 })
        const pass = exitCode === 0
        return {
          verdict: {
            pass,
            score: pass ? 1 : 0,
            reasons: pass ? [] : [`${command.join(' ')} exited with ${exitCode ?? 'a signal'}`],
            // The next implement session reads this.
            next_hint: pass ? '' : output.slice(-2000),
          },
          warnings: [],
        }
      },
    },
  }),
})
