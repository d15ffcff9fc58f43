import { definePlugin, fingerprint } from 'automaton'
import * as v from 'valibot'

/** Every open check box of one file is a piece of work. */
export default definePlugin({
  name: 'my-source',
  api: 1,
  role: 'source',
  options: v.strictObject({
    /** The list, relative to the project. */
    file: v.optional(v.string(), 'TODO.md'),
  }),
  setup: ({ options: { file } }) => ({
    source: {
      async find(ctx) {
        const text = (await ctx.readProjectFile(file)) ?? ''
        const titles = text.split('\n').flatMap((line) => /^- \[ \] (.+)/.exec(line)?.[1]?.trim() ?? [])
        return [...new Set(titles)].map((title) => ({
          title,
          brief: `Do this item of ${file}:\n\n${title}`,
          // While a task of this fingerprint is open, the item is that task.
          fingerprint: fingerprint('my-source', file, title),
          design_ref: file,
        }))
      },
    },
  }),
})
