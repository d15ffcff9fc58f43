import { describe, test } from 'bun:test'
import type { Plugin } from '../../src/api/index.ts'
import { harnessChecks } from '../../src/plugin/contract/harness.ts'
import { createHost } from '../../src/plugin/host.ts'

export { sessionEnd, sessionRequest } from '../../src/plugin/contract/fakes.ts'

/** A harness under test, and what its agent writes when a run goes well. */
export interface HarnessCase {
  plugin: Plugin
  options?: unknown
  /** Standard output of a good run, whose final message is `Done.` */
  goodRun: string
}

/** Runs the suite that `automaton plugins check` runs, on a plugin in this process. */
export function harnessContract({ plugin, options = {}, goodRun }: HarnessCase): void {
  describe(`the harness ${plugin.name}`, () => {
    const host = createHost({ builtins: [plugin], log() {} })
    for (const check of harnessChecks({ host, name: plugin.name, options, goodRun }))
      test(check.name, check.run)
  })
}
