import type { Verb } from '../verb.ts'

/** Having the system's scheduler tick a loop. */
export const scheduleVerbs: readonly Verb[] = [
  {
    name: 'install-schedule',
    args: '<loop>',
    group: 'Run',
    help: 'have the system’s own scheduler tick a loop',
    strict: true,
    options: [
      {
        name: 'interval',
        value: 'SECONDS',
        help: 'whole minutes; kept in loop.json (default: what it says)',
      },
      { name: 'scheduler', value: 'NAME', help: 'cron, or another that automaton plugins lists' },
    ],
    async run(app, input) {
      const { installSchedule } = await import('../../commands/install-schedule.ts')
      const report = await installSchedule(app, {
        loop: input.arg(0),
        interval: input.integer('interval', 1),
        scheduler: input.text('scheduler'),
      })
      return {
        report,
        text: async (page) => (await import('../text/schedule.ts')).installText(report, page),
      }
    },
  },
  {
    name: 'uninstall-schedule',
    args: '<loop>',
    group: 'Run',
    help: 'take a loop’s schedule away, and nothing else',
    strict: true,
    async run(app, input) {
      const { uninstallSchedule } = await import('../../commands/uninstall-schedule.ts')
      const report = await uninstallSchedule(app, { loop: input.arg(0) })
      return {
        report,
        text: async (page) => (await import('../text/schedule.ts')).uninstallText(report, page),
      }
    },
  },
]
