import type { Verb } from '../verb.ts'

/** Looking at what is there. */
export const lookVerbs: readonly Verb[] = [
  {
    name: 'status',
    args: '[loop]',
    group: 'Look',
    help: 'what it does, why it halted, what to type next',
    inTick: 'look',
    readOnly: true,
    async run(app, input) {
      const { status } = await import('../../commands/status.ts')
      const report = await status(app, { loop: input.args[0] ?? null })
      return { report, text: async (page) => (await import('../text/status.ts')).statusText(report, page) }
    },
  },
  {
    name: 'loop-list',
    alias: 'loops',
    group: 'Look',
    help: 'every loop in a row',
    inTick: 'look',
    readOnly: true,
    async run(app) {
      const { loopList } = await import('../../commands/loop-list.ts')
      const report = loopList(app)
      return {
        report,
        text: async (page) => (await import('../text/loop-list.ts')).loopListText(report, page),
      }
    },
  },
  {
    name: 'log',
    args: '<loop>',
    group: 'Look',
    help: 'the history of a loop, or all of one tick',
    inTick: 'look',
    readOnly: true,
    waits: true,
    options: [
      { name: 'tick', value: 'N', help: 'show that tick: prompts, artifact, verdict, diff' },
      { name: 'follow', help: 'go on as the history grows; with --json one object a time' },
    ],
    async run(app, input, emit) {
      const loop = input.arg(0)
      const tick = input.integer('tick', 1)
      const text = await import('../text/log.ts')
      const commands = await import('../../commands/log.ts')
      if (tick !== null) {
        const report = await commands.tickLog(app, { loop, tick })
        return { report, text: async (page) => text.tickLogText(report, page) }
      }
      const report = commands.log(app, { loop })
      const answer = {
        report,
        text: async (page: Parameters<typeof text.logText>[1]) => text.logText(report, page),
      }
      if (!input.on('follow') || !(await emit(answer))) return answer
      await commands.followLog(app, {
        loop,
        after: report.records.at(-1)?.seq ?? 0,
        emit: (more) => emit({ report: more, text: async (page) => text.logText(more, page) }),
      })
      return null
    },
  },
  {
    name: 'vram',
    group: 'Look',
    help: 'this machine’s memory, and the context of each role',
    options: [{ name: 'refresh', help: 'look again, even if the last look is no day old' }],
    async run(app, input) {
      const { vram } = await import('../../commands/vram.ts')
      const report = await vram(app, { refresh: input.on('refresh') })
      return { report, text: async (page) => (await import('../text/vram.ts')).vramText(report, page) }
    },
  },
  {
    name: 'audit',
    group: 'Look',
    help: 'what is wrong in the project, most severe first',
    inTick: 'look',
    readOnly: true,
    options: [{ name: 'strict', help: 'exit 3 when there is anything' }],
    async run(app, input) {
      const { audit } = await import('../../commands/audit.ts')
      const report = await audit(app)
      return {
        report,
        exit: input.on('strict') && report.violations.length > 0 ? 3 : 0,
        text: async (page) => (await import('../text/audit.ts')).auditText(report, page),
      }
    },
  },
]
