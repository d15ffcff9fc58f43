import type { Verb } from '../verb.ts'

/** The operations of the orchestrate session; `transition` is the third. */
export const tickVerbs: readonly Verb[] = [
  {
    name: 'escalate',
    args: '<...reason>',
    group: 'Inside a tick',
    help: 'orchestrate session: hand the task to a person',
    inTick: 'intent',
    async run(app, input) {
      const { leaveIntent, tickAround } = await import('../../commands/intent.ts')
      const instead = 'automaton transition TASK human_intervention --reason TEXT'
      const tick = tickAround(app, 'escalate', instead)
      const intent = { action: 'escalate', reason: input.args.join(' ') } as const
      const report = leaveIntent({ tick, verb: 'escalate', task: null, intent })
      return { report, text: async (page) => (await import('../text/moves.ts')).intentText(report, page) }
    },
  },
  {
    name: 'hold',
    args: '[...reason]',
    group: 'Inside a tick',
    help: 'orchestrate session: leave the task where it is',
    inTick: 'intent',
    async run(app, input) {
      const { leaveIntent, tickAround } = await import('../../commands/intent.ts')
      const tick = tickAround(app, 'hold', 'automaton pause-loop LOOP')
      const intent = { action: 'hold', reason: input.args.join(' ') || 'the session chose to hold' } as const
      const report = leaveIntent({ tick, verb: 'hold', task: null, intent })
      return { report, text: async (page) => (await import('../text/moves.ts')).intentText(report, page) }
    },
  },
]
