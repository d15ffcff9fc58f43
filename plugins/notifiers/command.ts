import { definePlugin } from 'automaton'
import * as v from 'valibot'
import { type Notice, notifier, onOption, plainText } from './notice.ts'
import { liesIn } from './program.ts'
import { tellBy } from './run.ts'

const optionsSchema = v.strictObject({
  on: onOption,
  /** Program and arguments; no shell. It is a person's own, outside of the project. */
  command: v.pipe(
    v.array(v.string()),
    v.check(
      ([program]) => program !== undefined && isElsewhere(program),
      'a program on PATH, or an absolute path',
    ),
  ),
  /** Seconds; the tick waits so long at most. */
  timeout: v.optional(v.pipe(v.number(), v.gtValue(0), v.maxValue(4, 'at most 4 seconds')), 4),
})

/** Starts a program with the notice as JSON on its standard input. */
export default definePlugin({
  name: 'command',
  api: 1,
  role: 'hooks',
  options: optionsSchema,
  setup: ({ options: { on, command, timeout } }) => ({
    hooks: notifier(on, async (notice) => {
      const { project } = notice
      // An argument may be a script, and what is its program then is only to be found on PATH.
      const own = command.find((word) => liesIn(word, project, process.platform === 'win32'))
      if (own !== undefined)
        throw new Error(`${own} lies in the project, where a session may have changed it`)
      await tellBy({ argv: command, stdin: `${JSON.stringify(said(notice))}\n`, seconds: timeout })
    }),
  }),
})

function said(notice: Notice): object {
  const { event, loop, project, title, text, commands, details } = notice
  return { schema: 1, event, loop, project, title, reason: text, commands, details, text: plainText(notice) }
}

function isElsewhere(program: string): boolean {
  return program !== '' && (/^(\/|[A-Za-z]:[\\/])/.test(program) || !/[\\/]/.test(program))
}
