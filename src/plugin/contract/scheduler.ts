import type { UnitState } from '../../api/scheduler.ts'
import { type Check, ensureSame, type Subject } from './check.ts'
import { unit } from './fakes.ts'

/** What every scheduler must do. They install a unit of a loop that nobody has, and take it away again. */
export function schedulerChecks({ host, name, options }: Subject): Check[] {
  const mine = unit()
  const open = () => host.scheduler(name, options)
  const state = async (): Promise<UnitState> => (await open()).inspect(mine)
  const clean = (run: () => Promise<void>) => async () => {
    try {
      await (await open()).install(mine)
      await run()
    } finally {
      await (await open()).remove(mine)
    }
  }
  const installed: UnitState = { installed: true, enabled: true, drift: [] }
  return [
    {
      name: 'installs a unit that is enabled and as it should be',
      run: clean(async () => ensureSame(await state(), installed, 'the unit is')),
    },
    {
      name: 'changes nothing when it installs a second time',
      run: clean(async () => {
        await (await open()).install(mine)
        ensureSame(await state(), installed, 'the unit is')
      }),
    },
    {
      name: 'disables a unit and enables it again, each as often as it is asked to',
      run: clean(async () => {
        const scheduler = await open()
        for (const verb of ['disable', 'disable', 'enable', 'enable'] as const) {
          await scheduler[verb](mine)
          ensureSame((await state()).enabled, verb === 'enable', `after ${verb} it is enabled`)
        }
      }),
    },
    {
      name: 'notices that a unit is not what it would write',
      run: clean(async () => {
        const other = await (await open()).inspect(unit({ intervalSeconds: 7200 }))
        ensureSame(other.drift.length > 0, true, 'for another interval it finds a difference')
      }),
    },
    {
      name: 'removes a unit, and does not mind that there is none',
      async run() {
        const scheduler = await open()
        await scheduler.install(mine)
        await scheduler.remove(mine)
        await scheduler.remove(mine)
        ensureSame((await state()).installed, false, 'after remove it is installed')
      },
    },
  ]
}
