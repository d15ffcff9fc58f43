import { errors } from '../../errors.ts'
import type { Input } from '../input.ts'
import type { Verb } from '../verb.ts'

/** What only a person decides. */
export const decideVerbs: readonly Verb[] = [
  {
    name: 'approve',
    group: 'Decide',
    help: 'clear a loop’s halt, or let a waiting task go on',
    strict: true,
    options: [
      { name: 'loop', value: 'LOOP', help: 'the loop whose halt you looked at' },
      { name: 'halt', value: 'ID', help: 'the halt; without it the terminal shows it and asks' },
      { name: 'discard', help: 'first put the worktree back to its last verified commit' },
      { name: 'task', value: 'TASK', help: 'the task that waits in human_intervention or design' },
      { name: 'to', value: 'PHASE', help: 'where the task goes on; default: where it was' },
      { name: 'note', value: 'TEXT', help: 'kept in the record' },
    ],
    async run(app, input) {
      const [loop, task] = oneOf(input)
      if (loop !== null) {
        const { approveLoop } = await import('../../commands/approve.ts')
        const options = { halt: input.text('halt'), note: input.text('note'), discard: input.on('discard') }
        const report = await approveLoop(app, { loop, ...options })
        return {
          report,
          exit: report.approved ? 0 : 3,
          text: async (page) => (await import('../text/approve.ts')).approveText(report, page),
        }
      }
      const [{ approveTask }, { phaseNamed }] = await Promise.all([
        import('../../commands/approve-task.ts'),
        import('../../commands/phases.ts'),
      ])
      const to = input.text('to')
      const phase = to === null ? null : phaseNamed(to, `automaton task ${task}`)
      const report = await approveTask(app, { task, to: phase, note: input.text('note') })
      return { report, text: async (page) => (await import('../text/moves.ts')).transitionText(report, page) }
    },
  },
  {
    name: 'repair',
    args: '<loop>',
    group: 'Decide',
    help: 'rebuild a damaged state from its log, as halted',
    strict: true,
    async run(app, input) {
      const { repair } = await import('../../commands/repair.ts')
      const report = await repair(app, { loop: input.arg(0) })
      return { report, text: async (page) => (await import('../text/moves.ts')).repairText(report, page) }
    },
  },
]

/** Either a loop or a task, with the options that belong to it. */
function oneOf(input: Input): [loop: string, task: null] | [loop: null, task: string] {
  const see = 'automaton approve --help'
  const loop = input.text('loop')
  const task = input.text('task')
  const foreign = (names: string[]) => names.find((name) => input.on(name))
  if (loop !== null && task === null) {
    if (foreign(['to'])) throw errors.usage('bad option (--to)', 'it goes with --task', see)
    return [loop, null]
  }
  if (task !== null && loop === null) {
    const wrong = foreign(['halt', 'discard'])
    if (wrong) throw errors.usage(`bad option (--${wrong})`, 'it goes with --loop', see)
    return [null, task]
  }
  if (loop !== null) throw errors.usage('bad option (--task)', 'it does not go with --loop', see)
  throw errors.usage('missing option (automaton approve)', 'it needs --loop LOOP or --task TASK', see)
}
