import type { SchedulerContext, UnitState } from '../../api/scheduler.ts'
import { type Check, ensureSame, type Subject } from './check.ts'
import { unit } from './fakes.ts'

/** A scheduler under check. */
export interface SchedulerSubject extends Subject {
  /** The machine that it is checked on. */
  context: SchedulerContext
}

/** What every scheduler must do. They install a unit of a loop that nobody has, and take it away again. */
export function schedulerChecks({ host, name, options, context: ctx }: SchedulerSubject): Check[] {
  const mine = unit()
  const open = () => host.scheduler(name, options)
  const state = async () => plain(await (await open()).inspect(mine, ctx))
  const clean = (run: () => Promise<void>) => async () => {
    try {
      await (await open()).install(mine, ctx)
      await run()
    } finally {
      await (await open()).remove(mine, ctx)
    }
  }
  const installed = { installed: true, enabled: true, drift: [] }
  return [
    {
      name: 'installs a unit that is enabled and as it should be',
      run: clean(async () => ensureSame(await state(), installed, 'the unit is')),
    },
    {
      name: 'changes nothing when it installs a second time',
      run: clean(async () => {
        await (await open()).install(mine, ctx)
        ensureSame(await state(), installed, 'the unit is')
      }),
    },
    {
      name: 'disables a unit and enables it again, each as often as it is asked to',
      run: clean(async () => {
        const scheduler = await open()
        for (const verb of ['disable', 'disable', 'enable', 'enable'] as const) {
          await scheduler[verb](mine, ctx)
          ensureSame((await state()).enabled, verb === 'enable', `after ${verb} it is enabled`)
        }
        ensureSame(await state(), installed, 'the unit is')
      }),
    },
    {
      name: 'disables and enables a unit from its own run',
      run: clean(async () => {
        const scheduler = await open()
        const inside = { ...ctx, fromTick: true }
        for (const verb of ['disable', 'enable'] as const) {
          await scheduler[verb](mine, inside)
          ensureSame((await state()).enabled, verb === 'enable', `after ${verb} it is enabled`)
        }
      }),
    },
    {
      name: 'notices that a unit is not what it would write',
      run: clean(async () => {
        const other = await (await open()).inspect(unit({ intervalSeconds: 300 }), ctx)
        ensureSame(other.drift.length > 0, true, 'for another interval it finds a difference')
      }),
    },
    {
      name: 'keeps the units of two projects apart, though their loops have one name',
      run: clean(async () => {
        const scheduler = await open()
        const other = unit({ project: '/other', script: '/other/tick.sh' })
        await scheduler.install(other, ctx)
        ensureSame(await state(), installed, 'after the other was installed the unit is')
        await scheduler.remove(other, ctx)
        ensureSame(await state(), installed, 'after the other was removed the unit is')
      }),
    },
    {
      name: 'removes a unit, and does not mind that there is none',
      async run() {
        const scheduler = await open()
        await scheduler.install(mine, ctx)
        await scheduler.remove(mine, ctx)
        await scheduler.remove(mine, ctx)
        ensureSame((await state()).installed, false, 'after remove it is installed')
      },
    },
  ]
}

/** Without the warnings: they are about the machine. */
function plain({ installed, enabled, drift }: UnitState) {
  return { installed, enabled, drift }
}
