import { definePlugin, type RunResult, type VerifierResult } from 'automaton'
import * as v from 'valibot'

const argv = v.pipe(
  v.array(v.string('a string')),
  v.check(([program]) => program !== undefined && program !== '', 'a program and its arguments'),
)

const tailLength = 2000

/** Grades by programs that must exit with 0, run one after the other in the worktree, without a shell. */
export default definePlugin({
  name: 'command',
  api: 1,
  role: 'verifier',
  options: v.strictObject({
    /** One program with its arguments, or a list of such. */
    commands: v.union(
      [
        v.pipe(
          argv,
          v.transform((one) => [one]),
        ),
        v.pipe(v.array(argv), v.minLength(1)),
      ],
      'a program and its arguments as a list of strings, or a list of such lists',
    ),
    /** Seconds for each; by default 600. */
    timeout: v.optional(v.pipe(v.number(), v.finite(), v.gtValue(0)), 600),
  }),
  setup: ({ options: { commands, timeout } }) => ({
    verifier: {
      free: true,
      async verify(ctx): Promise<VerifierResult> {
        for (const command of commands) {
          const result = await ctx.run(command, { timeoutSeconds: timeout })
          if (result.exitCode !== 0) return failed(command.join(' '), result, timeout)
        }
        return verdict({ pass: true, score: 1, reasons: [], next_hint: '' })
      },
    },
  }),
})

function failed(command: string, { exitCode, timedOut, output }: RunResult, timeout: number): VerifierResult {
  const how = timedOut
    ? `took longer than ${timeout} s`
    : exitCode === null
      ? 'was killed'
      : `exited with ${exitCode}`
  const what = `\`${command.slice(0, 300)}\` ${how}`
  const text = output.trimEnd()
  const tail = text.length > tailLength ? `…${text.slice(-tailLength)}` : text
  const hint = `${what}. Make it pass.${tail === '' ? '' : ` Its output ended with:\n${tail}`}`
  return verdict({ pass: false, score: 0, reasons: [what, ...(tail === '' ? [] : [tail])], next_hint: hint })
}

function verdict(verdict: {
  pass: boolean
  score: number
  reasons: string[]
  next_hint: string
}): VerifierResult {
  return { verdict, warnings: [] }
}
