import type { Verb } from '../verb.ts'

/** What runs sessions: a tick, the daemon, and the demo. */
export const sessionVerbs: readonly Verb[] = [
  {
    name: 'tick',
    args: '<loop>',
    options: [{ name: 'scheduled', help: 'only when the loop is due; silent unless something is wrong' }],
    group: 'Run',
    help: 'run one tick: find work, implement, verify, decide',
    strict: true,
    waits: true,
    async run(app, input) {
      const { tick } = await import('../../commands/tick.ts')
      const { report, exit, silent } = await tick(app, {
        loop: input.arg(0),
        scheduled: input.on('scheduled'),
      })
      return {
        report: report ?? {},
        exit,
        silent,
        text: async (page) => (report ? (await import('../text/tick.ts')).tickText(report, page) : ''),
      }
    },
  },
  {
    name: 'daemon',
    args: '[...loops]',
    options: [{ name: 'parallel', value: 'N', help: 'at most so many ticks at once (default 1)' }],
    group: 'Run',
    help: 'tick the given loops, or all that run, when they are due',
    strict: true,
    waits: true,
    async run(app, input) {
      const { daemon } = await import('../../commands/daemon.ts')
      const options = { loops: [...input.args], parallel: input.integer('parallel', 1) ?? 1 }
      const report = await daemon(app, options, ({ loop, exit, output }) => {
        app.progress(`${loop}: exit ${exit ?? 'killed'}: ${output.trim().split('\n')[0] ?? ''}`)
      })
      return { report, text: async () => `ran ${report.ticks} ticks` }
    },
  },
  {
    name: 'demo',
    group: 'Start',
    help: 'watch the main job offline, in a throwaway folder',
    strict: true,
    waits: true,
    async run(app) {
      const { demo } = await import('../../commands/demo.ts')
      const report = await demo(app, app.progress)
      return { report, text: async (page) => (await import('../text/demo.ts')).demoText(report, page) }
    },
  },
  {
    name: 'demo-agent',
    args: '<prompt>',
    help: 'the agent of the demo',
    inTick: 'look',
    async run(app, input) {
      const { demoAgent } = await import('../../commands/demo-agent.ts')
      const said = await demoAgent({ env: app.env, cwd: app.cwd, promptFile: input.arg(0) })
      return { report: { said }, text: async () => said }
    },
  },
]
