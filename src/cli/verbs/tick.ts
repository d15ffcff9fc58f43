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
      const answer = await tick(app, { loop: input.arg(0), scheduled: input.on('scheduled') })
      const { report, waiting, exit, silent } = answer
      return {
        report: report?.outcome === 'no_work' ? { ...report, waiting } : { ...report },
        exit,
        silent,
        text: async (page) => (await import('../text/tick.ts')).tickText(answer, page),
      }
    },
  },
  {
    name: 'daemon',
    args: '[...loops]',
    options: [
      { name: 'parallel', value: 'N', help: 'at most so many ticks at once (default 1)' },
      { name: 'until-idle', help: 'end when no loop can go on without a person or new work' },
      { name: 'status-file', value: 'FILE', help: 'say there how it is, at least every 10 seconds' },
      { name: 'check', help: 'look at FILE instead: exit 3 unless a daemon writes it' },
    ],
    group: 'Run',
    help: 'tick the given loops, or all that run, when they are due',
    strict: true,
    waits: true,
    async run(app, input) {
      const { checkText, daemonLine, loopLine } = await import('../text/daemon.ts')
      if (input.on('check')) {
        const { checkDaemon } = await import('../../commands/daemon-check.ts')
        const { report, exit } = checkDaemon(app, input.needed('status-file', 'FILE'))
        return { report, exit, text: async () => checkText(report) }
      }
      const { daemon } = await import('../../commands/daemon.ts')
      const options = {
        loops: [...input.args],
        parallel: input.integer('parallel', 1) ?? 1,
        untilIdle: input.on('until-idle'),
        statusFile: input.text('status-file'),
      }
      const report = await daemon(app, options, {
        onTick: (tick) => app.progress(daemonLine(tick)),
        onLoop: (loop) => app.progress(loopLine(loop, app.clock.iso())),
      })
      return { report, text: async () => `ran ${report.ticks} ${report.ticks === 1 ? 'tick' : 'ticks'}` }
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
