import { appendFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { definePlugin } from 'automaton'
import * as v from 'valibot'

/** Writes a line for a person when a loop stops. Hooks only look on: what fails here changes no tick. */
export default definePlugin({
  name: 'my-hooks',
  api: 1,
  options: v.strictObject({
    file: v.optional(v.string(), join(tmpdir(), 'my-hooks.log')),
  }),
  setup({ options: { file } }) {
    const say = (line: string) => appendFileSync(file, `${line}\n`)
    return {
      hooks: {
        halt: ({ loop, reason, detail, fix }) => say(`${loop} halted: ${reason} (${detail}). Next: ${fix}`),
        complete: ({ loop, task }) => say(`${loop} completed ${task}`),
      },
    }
  },
})
