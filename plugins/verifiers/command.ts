import { definePlugin, type RunResult, type VerifierResult } from 'automaton'
import * as v from 'valibot'
import { commandList, protectOption, timeoutOption } from './command-options.ts'

const tailLength = 2000

/**
 * Grades by programs that must exit with 0, run one after the other in the worktree, without a shell. While they run,
 * protected files, and those of `protect`, are as in the base commit: whoever is graded does not set the questions.
 */
export default definePlugin({
  name: 'command',
  api: 1,
  role: 'verifier',
  options: v.strictObject({
    /** One program with its arguments, or a list of such. */
    commands: commandList,
    /** Seconds for each; by default 600. */
    timeout: timeoutOption,
    /** Globs of files to take from the base commit, such as `test/**`. Needs a worktree. */
    protect: protectOption,
  }),
  setup: ({ options: { commands, timeout, protect } }) => ({
    verifier: {
      free: true,
      async verify(ctx): Promise<VerifierResult> {
        const passed: string[] = []
        for (const command of commands) {
          const result = await ctx.run(command, { timeoutSeconds: timeout, fromBase: protect })
          const what = `\`${command.join(' ').slice(0, 300)}\``
          if (result.exitCode !== 0) return failed(what, result, timeout)
          passed.push(`${what} passed in ${result.seconds.toFixed(1)} s`)
        }
        return verdict({ pass: true, score: 1, reasons: passed, next_hint: '' })
      },
    },
  }),
})

function failed(command: string, result: RunResult, timeout: number): VerifierResult {
  const { exitCode, timedOut, output, seconds } = result
  const how = timedOut
    ? `took longer than ${timeout} s`
    : `${exitCode === null ? 'was killed' : `exited with ${exitCode}`} after ${seconds.toFixed(1)} s`
  const what = `${command} ${how}`
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
