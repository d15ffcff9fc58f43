import { describe, test } from 'bun:test'
import type { Plugin } from '../../src/api/index.ts'
import { sourceChecks } from '../../src/plugin/contract/source.ts'
import { createHost } from '../../src/plugin/host.ts'

export { sourceContext, taskView, violation } from '../../src/plugin/contract/fakes.ts'

/** Runs the suite that `automaton plugins check` runs, on a plugin in this process. */
export function sourceContract(plugin: Plugin, options: unknown = {}): void {
  describe(`the source ${plugin.name}`, () => {
    const host = createHost({ builtins: [plugin], log() {} })
    for (const check of sourceChecks({ host, name: plugin.name, options })) test(check.name, check.run)
  })
}
