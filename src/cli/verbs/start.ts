import type { Verb } from '../verb.ts'

/** Making a project and its loops. */
export const startVerbs: readonly Verb[] = [
  {
    name: 'init',
    group: 'Start',
    help: 'make .automaton/ here, and say what to run next',
    async run(app) {
      const { init } = await import('../../commands/init.ts')
      const report = await init(app)
      return { report, text: async (page) => (await import('../text/init.ts')).initText(report, page) }
    },
  },
  {
    name: 'create-loop',
    args: '<loop>',
    group: 'Start',
    help: 'make a loop from a template',
    options: [
      {
        name: 'from-template',
        value: 'NAME',
        help: 'a template, or the path of a folder with loop.json (needed)',
      },
      { name: 'task', value: 'TASK', help: 'work this one task, then be complete' },
      { name: 'harness', value: 'NAME', help: 'the coding agent that runs the sessions' },
      { name: 'interval', value: 'SECONDS', help: 'from the start of one tick to the start of the next' },
      { name: 'scope', value: 'GLOB', list: true, help: 'where the loop may change files' },
      { name: 'base', value: 'BRANCH', help: 'the branch that the loop starts from' },
      { name: 'no-worktree', help: 'work in the primary checkout, or in a folder without git' },
    ],
    async run(app, input) {
      const { createLoop } = await import('../../commands/create-loop.ts')
      const report = await createLoop(app, {
        loop: input.arg(0),
        template: input.needed('from-template', 'NAME'),
        task: input.text('task'),
        harness: input.text('harness'),
        interval: input.integer('interval', 1),
        scope: input.list('scope'),
        base: input.text('base'),
        worktree: !input.on('no-worktree'),
      })
      return {
        report,
        text: async (page) => (await import('../text/create-loop.ts')).createLoopText(report, page),
      }
    },
  },
  {
    name: 'doctor',
    group: 'Start',
    help: 'check what a tick needs, with a fix for each fault',
    options: [
      { name: 'as-scheduler', help: 'with the environment of scheduled ticks, and start the agents' },
      { name: 'self', help: 'try this program itself out, in a temporary folder' },
    ],
    readOnly: true,
    waits: true,
    async run(app, input) {
      if (input.on('self')) {
        const { selfCheck } = await import('../../commands/self-check.ts')
        const report = await selfCheck(app)
        return {
          report,
          exit: report.ok ? 0 : 3,
          text: async (page) => (await import('../text/self-check.ts')).selfCheckText(report, page),
        }
      }
      const { doctor } = await import('../../commands/doctor.ts')
      const report = await doctor(app, { asScheduler: input.on('as-scheduler') })
      return {
        report,
        exit: report.ok ? 0 : 3,
        text: async (page) => (await import('../text/doctor.ts')).doctorText(report, page),
      }
    },
  },
  {
    name: 'self-check-part',
    args: '<...words>',
    help: 'what one process of doctor --self does',
    readOnly: true,
    waits: true,
    async run(app, input, emit) {
      const { selfCheckPart } = await import('../../commands/self-check/part.ts')
      const say = (line: string) => emit({ report: { line }, text: async () => line })
      await selfCheckPart(app, input.args, say)
      return null
    },
  },
  {
    name: 'schema',
    args: '<file>',
    group: 'Start',
    help: 'print the JSON Schema of loop.json (schema loop)',
    readOnly: true,
    async run(_app, input) {
      const { schema } = await import('../../commands/schema.ts')
      const report = await schema(input.arg(0))
      return { report, text: async () => JSON.stringify(report, null, 2) }
    },
  },
  {
    name: 'plugins',
    args: '[...what]',
    group: 'Start',
    help: 'list the plugins; plugins new ROLE NAME, trust FILE, check FILE',
    options: [{ name: 'local', help: 'plugins new: into this project, and not into HOME' }],
    changesHome: (input) => input.args[0] === 'trust',
    strict: true,
    async run(app, input) {
      const { runPlugins } = await import('../plugins.ts')
      return runPlugins(app, input)
    },
  },
]
