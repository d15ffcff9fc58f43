import type { Verb } from '../verb.ts'

/** Tasks. */
export const taskVerbs: readonly Verb[] = [
  {
    name: 'create-task',
    args: '<task>',
    group: 'Tasks',
    help: 'make a task from a brief',
    options: [
      { name: 'brief', value: 'FILE', help: 'what is to be done; - reads standard input (needed)' },
      { name: 'phase', value: 'PHASE', help: 'where it starts; default implement' },
      { name: 'scope', value: 'GLOB', list: true, help: 'files that it is about' },
      { name: 'criterion', value: 'TEXT', list: true, help: 'when it is done' },
      { name: 'fingerprint', value: 'TEXT', help: 'an open task with the same one is this task' },
      { name: 'design', value: 'REF', help: 'the design that it carries out' },
    ],
    async run(app, input) {
      const name = input.arg(0)
      const path = input.needed('brief', 'FILE')
      const [{ createTask }, { phaseNamed }, { readBrief }] = await Promise.all([
        import('../../commands/create-task.ts'),
        import('../../commands/phases.ts'),
        import('../brief.ts'),
      ])
      const phase = input.text('phase')
      const report = await createTask(app, {
        task: name,
        brief: await readBrief(path, app.cwd),
        phase: phase === null ? null : phaseNamed(phase, 'automaton create-task --help'),
        scope: input.list('scope'),
        criteria: input.list('criterion'),
        fingerprint: input.text('fingerprint'),
        design: input.text('design'),
      })
      return { report, text: async (page) => (await import('../text/task.ts')).createTaskText(report, page) }
    },
  },
  {
    name: 'task',
    args: '<task>',
    group: 'Tasks',
    help: 'show a task',
    inTick: 'look',
    readOnly: true,
    async run(app, input) {
      const { task } = await import('../../commands/task.ts')
      const report = task(app, { task: input.arg(0) })
      return { report, text: async (page) => (await import('../text/task.ts')).taskText(report, page) }
    },
  },
  {
    name: 'task-list',
    alias: 'tasks',
    group: 'Tasks',
    help: 'every task in a row',
    inTick: 'look',
    readOnly: true,
    async run(app) {
      const { taskList } = await import('../../commands/task.ts')
      const report = taskList(app)
      return { report, text: async (page) => (await import('../text/task.ts')).taskListText(report, page) }
    },
  },
  {
    name: 'transition',
    args: '<task> <phase>',
    group: 'Tasks',
    help: 'move a task along one edge',
    inTick: 'intent',
    options: [{ name: 'reason', value: 'TEXT', help: 'why; needed for human_intervention' }],
    async run(app, input) {
      const { phaseNamed } = await import('../../commands/phases.ts')
      const task = input.arg(0)
      const to = phaseNamed(input.arg(1), `automaton task ${task}`)
      const reason = input.text('reason') ?? ''
      if (app.inTick) {
        const { leaveIntent } = await import('../../commands/intent.ts')
        const intent = { action: 'transition', to, reason } as const
        const report = leaveIntent({ tick: app.inTick, verb: 'transition', task, intent })
        return { report, text: async (page) => (await import('../text/moves.ts')).intentText(report, page) }
      }
      const { transition } = await import('../../commands/transition.ts')
      const report = await transition(app, { task, to, reason })
      return { report, text: async (page) => (await import('../text/moves.ts')).transitionText(report, page) }
    },
  },
  {
    name: 'claim',
    args: '<task>',
    group: 'Tasks',
    help: 'take a task yourself, so that loops keep off it',
    async run(app, input) {
      const { claim } = await import('../../commands/claim.ts')
      const report = await claim(app, { task: input.arg(0) })
      return { report, text: async (page) => (await import('../text/moves.ts')).claimText(report, page) }
    },
  },
  {
    name: 'release',
    args: '<task>',
    group: 'Tasks',
    help: 'give a task back to the loops',
    async run(app, input) {
      const { release } = await import('../../commands/claim.ts')
      const report = await release(app, { task: input.arg(0) })
      return { report, text: async (page) => (await import('../text/moves.ts')).claimText(report, page) }
    },
  },
  {
    name: 'scope-check',
    args: '<task>',
    group: 'Tasks',
    help: 'changed files against the scope of a task',
    inTick: 'look',
    readOnly: true,
    async run(app, input) {
      const { scopeCheck } = await import('../../commands/scope-check.ts')
      const report = await scopeCheck(app, { task: input.arg(0) })
      return {
        report,
        exit: report.outside.length > 0 ? 3 : 0,
        text: async (page) => (await import('../text/scope-check.ts')).scopeCheckText(report, page),
      }
    },
  },
]
