import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { schedulerContext } from '../../src/plugin/contract/fakes.ts'
import { schedulerChecks } from '../../src/plugin/contract/scheduler.ts'
import { createHost } from '../../src/plugin/host.ts'
import harness from '../../templates/plugin/harness.ts'
import scheduler from '../../templates/plugin/scheduler.ts'
import source from '../../templates/plugin/source.ts'
import verifier from '../../templates/plugin/verifier.ts'
import { harnessContract } from '../contract/harness.ts'
import { sourceContract } from '../contract/source.ts'
import { verifierContract } from '../contract/verifier.ts'
import { declarationsFile, moduleDeclarations } from '../helpers/declarations.ts'

sourceContract(source)
verifierContract(verifier)
harnessContract({ plugin: harness, goodRun: 'Done.\n' })

const folder = mkdtempSync(join(tmpdir(), 'automaton-test-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const host = createHost({ builtins: [scheduler], log() {} })
const context = schedulerContext()
for (const check of schedulerChecks({ host, name: scheduler.name, options: { folder }, context })) {
  test(`the scheduler ${scheduler.name} ${check.name}`, check.run)
}

test('the declarations for editors are those of src/api: bun test/helpers/declarations.ts writes them', () => {
  expect(readFileSync(declarationsFile, 'utf8')).toBe(moduleDeclarations())
})
