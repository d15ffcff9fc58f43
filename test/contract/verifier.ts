import { describe, test } from 'bun:test'
import type { Plugin } from '../../src/api/index.ts'
import { verifierChecks } from '../../src/plugin/contract/verifier.ts'
import { createHost } from '../../src/plugin/host.ts'

export { runResult, sessionResult, verifyContext } from '../../src/plugin/contract/fakes.ts'

/** Runs the suite that `automaton plugins check` runs, on a plugin in this process. */
export function verifierContract(plugin: Plugin, options: unknown = {}, goodRun?: string): void {
  describe(`the verifier ${plugin.name}`, () => {
    const host = createHost({ builtins: [plugin], log() {} })
    for (const check of verifierChecks({ host, name: plugin.name, options, goodRun }))
      test(check.name, check.run)
  })
}
