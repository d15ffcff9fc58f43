import type { Verb } from '../verb.ts'

/** What programs ask: they print JSON always, but for `can-edit`. */
export const programVerbs: readonly Verb[] = [
  {
    name: 'can-continue',
    args: '<loop>',
    group: 'For programs',
    help: 'the stored status of a loop, as JSON',
    inTick: 'look',
    readOnly: true,
    alwaysJson: true,
    async run(app, input) {
      const { canContinue } = await import('../../commands/can-continue.ts')
      const report = canContinue(app, { loop: input.arg(0) })
      return { report, text: noText }
    },
  },
  {
    name: 'check-gate',
    args: '<loop>',
    group: 'For programs',
    help: 'run the seven checks, as JSON; exit 0: may tick',
    alwaysJson: true,
    async run(app, input) {
      const { checkGate } = await import('../../commands/check-gate.ts')
      const { gateExit } = await import('../../runner/report.ts')
      const report = await checkGate(app, { loop: input.arg(0) })
      return { report, exit: gateExit({ ...report, effect: 'none' }), text: noText }
    },
  },
  {
    name: 'claim-loop-task',
    args: '<loop>',
    group: 'For programs',
    help: 'claim a task for a loop, as JSON',
    alwaysJson: true,
    options: [{ name: 'task', value: 'TASK', help: 'the task (needed)' }],
    async run(app, input) {
      const task = input.needed('task', 'TASK')
      const { claimLoopTask } = await import('../../commands/claim-loop-task.ts')
      const report = await claimLoopTask(app, { loop: input.arg(0), task })
      return { report, exit: report.ok ? 0 : 3, text: noText }
    },
  },
  {
    name: 'can-edit',
    args: '<path>',
    group: 'For programs',
    help: 'may this file be changed: exit 0 or 3, and why',
    inTick: 'look',
    readOnly: true,
    options: [
      { name: 'task', value: 'TASK', help: 'by the scope of this task' },
      { name: 'loop-worktree', value: 'LOOP', help: 'in the worktree of this loop, by its scope' },
    ],
    async run(app, input) {
      const { canEdit } = await import('../../commands/can-edit.ts')
      const options = { path: input.arg(0), task: input.text('task'), loop: input.text('loop-worktree') }
      const report = await canEdit(app, options)
      return {
        report,
        exit: report.allowed ? 0 : 3,
        text: async () => (await import('../text/can-edit.ts')).canEditText(report),
      }
    },
  },
  {
    name: 'hook',
    args: '<agent>',
    group: 'For programs',
    help: 'settings that make an agent ask before each edit',
    readOnly: true,
    async run(app, input) {
      const { hook } = await import('../../commands/hook.ts')
      const report = hook(app, { agent: input.arg(0) })
      // Beside the settings, which are piped into that file where there is none yet.
      if (!input.on('json')) app.progress(`put this into ${report.file}, in your project`)
      return { report, text: async () => JSON.stringify(report.settings, null, 2) }
    },
  },
  {
    name: 'hook-check',
    args: '<agent>',
    help: 'what an agent’s hook calls: the event on standard input, exit 0 or 2',
    inTick: 'look',
    readOnly: true,
    async run(app, input) {
      const { hookCheck } = await import('../../commands/hook.ts')
      const report = await hookCheck(app, { agent: input.arg(0), readEvent: () => Bun.stdin.text() })
      // The agent hands standard error to its model, and wants nothing else.
      if (!report.allowed) app.progress(`automaton refused this edit: ${report.why}`)
      return { report, exit: report.allowed ? 0 : 2, silent: true, text: noText }
    },
  },
]

async function noText(): Promise<string> {
  return ''
}
