import type { Verb } from '../verb.ts'

/** Bringing automaton to a machine, and taking it away. */
export const installVerbs: readonly Verb[] = [
  {
    name: 'install',
    group: 'Start',
    help: 'put this program and your repository into HOME, or update them',
    options: [
      {
        name: 'git-url',
        value: 'URL',
        help: 'your own repository, which HOME becomes a clone of; may be empty',
      },
    ],
    changesHome: () => true,
    strict: true,
    waits: true,
    async run(app, input) {
      const { install } = await import('../../commands/install.ts')
      const report = await install(app, { url: input.text('git-url') ?? (app.env.AUTOMATON_GIT_URL || null) })
      return { report, text: async (page) => (await import('../text/install.ts')).installText(report, page) }
    },
  },
  {
    name: 'uninstall',
    group: 'Start',
    help: 'take away all schedules and the program; your repository stays',
    options: [{ name: 'yes', help: 'do not ask' }],
    changesHome: () => true,
    strict: true,
    waits: true,
    async run(app, input) {
      const { uninstall } = await import('../../commands/uninstall.ts')
      const report = await uninstall(app, { yes: input.on('yes') })
      return {
        report,
        text: async (page) => (await import('../text/uninstall.ts')).uninstallText(report, page),
      }
    },
  },
]
