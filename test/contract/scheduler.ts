import { describe, test } from 'bun:test'
import type { Plugin } from '../../src/api/index.ts'
import type { SchedulerContext } from '../../src/api/scheduler.ts'
import { schedulerChecks } from '../../src/plugin/contract/scheduler.ts'
import { createHost } from '../../src/plugin/host.ts'

/** Runs the suite that `automaton plugins check` runs, on a plugin in this process and a machine of its own for each check. */
export function schedulerContract(plugin: Plugin, machine: () => SchedulerContext): void {
  describe(`the scheduler ${plugin.name}`, () => {
    const host = createHost({ builtins: [plugin], log() {} })
    const checksOn = () => schedulerChecks({ host, name: plugin.name, options: {}, context: machine() })
    for (const [i, { name }] of checksOn().entries()) test(name, async () => checksOn()[i]?.run())
  })
}
