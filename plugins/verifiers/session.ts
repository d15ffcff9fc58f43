import { definePlugin } from 'automaton'

/** Grades by one agent session with the verify prompt. */
export default definePlugin({
  name: 'session',
  api: 1,
  role: 'verifier',
  setup: () => ({
    verifier: {
      async verify(ctx) {
        const { output, finalMessage } = await ctx.session('verify')
        const text = [output, finalMessage].find((text) => text !== null && text.trim() !== '')
        return text ? ctx.readVerdict(text) : { unreadable: 'the verify session left no verdict', raw: '' }
      },
    },
  }),
})
