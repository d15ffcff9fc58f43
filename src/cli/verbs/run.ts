import type { Verb } from '../verb.ts'

/** Letting loops run. */
export const runVerbs: readonly Verb[] = [
  {
    name: 'pause-loop',
    args: '<loop>',
    group: 'Run',
    help: 'stop ticking a loop until it is resumed',
    async run(app, input) {
      const { pauseLoop } = await import('../../commands/pause-loop.ts')
      const report = await pauseLoop(app, { loop: input.arg(0) })
      return { report, text: async (page) => (await import('../text/moves.ts')).pauseText(report, page) }
    },
  },
  {
    name: 'resume-loop',
    args: '<loop>',
    group: 'Run',
    help: 'let a paused loop go on; never clears a halt',
    async run(app, input) {
      const { resumeLoop } = await import('../../commands/resume-loop.ts')
      const report = await resumeLoop(app, { loop: input.arg(0) })
      return { report, text: async (page) => (await import('../text/moves.ts')).resumeText(report, page) }
    },
  },
  {
    name: 'sync',
    args: '<loop>',
    group: 'Run',
    help: 'start the loop’s branch again from its base branch',
    async run(app, input) {
      const { sync } = await import('../../commands/sync.ts')
      const report = await sync(app, { loop: input.arg(0) })
      return { report, text: async (page) => (await import('../text/moves.ts')).syncText(report, page) }
    },
  },
]
