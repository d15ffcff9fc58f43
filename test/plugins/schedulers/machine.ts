import type { RunResult, SchedulerContext } from '../../../src/api/index.ts'
import { runResult, schedulerContext } from '../../../src/plugin/contract/fakes.ts'

/** A program of the system, as far as a scheduler uses it. */
export type Program = (args: readonly string[]) => string | { failed: number; says?: string }

/** A machine in memory. */
export interface Machine {
  files: Map<string, string | Uint8Array>
  /** The command lines that ran. */
  calls: string[]
  context: SchedulerContext
}

/** Makes a machine that has these programs and no other. */
export function machine(
  programs: Record<string, Program>,
  files: Machine['files'] = new Map(),
  change: Partial<SchedulerContext> = {},
): Machine {
  const calls: string[] = []
  const context = schedulerContext({
    home: '/home/pat',
    async run([name = '', ...args]): Promise<RunResult> {
      calls.push([name, ...args].join(' '))
      const program = programs[name]
      if (!program) throw new Error(`${name} is in no folder of PATH`)
      const answer = program(args)
      if (typeof answer === 'string') return runResult({ stdout: answer, output: answer })
      return runResult({ exitCode: answer.failed, output: answer.says ?? '' })
    },
    async readFile(path) {
      const data = files.get(path)
      return data === undefined ? null : typeof data === 'string' ? data : Buffer.from(data).toString()
    },
    async writeFile(path, data) {
      files.set(path, data)
    },
    async removeFile(path) {
      files.delete(path)
    },
    ...change,
  })
  return { files, calls, context }
}

/** Paths in which every character with a meaning to some reader stands, and one that cannot be read as anything else. */
export const hostilePaths = [
  '/home/pat/work',
  '/home/pat/two words/and  more',
  '/p/%h %%n %/x',
  `/p/$HOME/\${PATH}/$$`,
  `/p/"double" 'single' \`back\``,
  '/p/back\\slash\\\\n\\',
  '/p/<a href="x">&amp;&#65;]]></a>',
  '/p/; rm -rf ~ | cat & #no * ? [x] {y} ! ~ ^ = @ :',
  '/p/ünïcødé/日本語/🙂 é',
  '/p/-dash/--option=x',
  '/p/trailing space ',
]
