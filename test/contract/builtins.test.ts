import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtinPlugins } from '../../plugins/index.ts'
import { harnessContract } from './harness.ts'
import { sourceContract } from './source.ts'
import { verifierContract } from './verifier.ts'

const openCodeRun = [
  '{"type":"step_start","sessionID":"ses_1","part":{}}',
  '{"type":"text","sessionID":"ses_1","part":{"text":"Done."}}',
  '{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","tokens":{"total":10},"cost":0.1}}',
].join('\n')

const harnesses: Record<string, { options?: unknown; goodRun: string }> = {
  command: { options: { command: ['agent', '--model', '{model}', '{prompt_content}'] }, goodRun: 'Done.\n' },
  opencode: { goodRun: openCodeRun },
}
const verifierOptions: Record<string, unknown> = { command: { commands: ['npm', 'test'] } }

for (const plugin of builtinPlugins) {
  switch (plugin.role) {
    case 'source':
      sourceContract(plugin)
      break
    case 'verifier':
      verifierContract(plugin, verifierOptions[plugin.name])
      break
    case 'harness': {
      const known = harnesses[plugin.name]
      if (!known) throw new Error(`the contract suite knows no good run of ${plugin.name}`)
      harnessContract({ plugin, ...known })
      break
    }
    default:
      break
  }
}

describe('the built-in plugins', () => {
  test('are these', () => {
    expect(builtinPlugins.map(({ role, name }) => `${role}:${name}`)).toEqual([
      'source:audit',
      'source:backlog',
      'source:single',
      'verifier:command',
      'verifier:session',
      'harness:command',
      'harness:opencode',
    ])
  })

  test('import only what a user file could', () => {
    const root = join(import.meta.dir, '..', '..', 'plugins')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )
    expect(files.length).toBeGreaterThan(builtinPlugins.length)
    for (const file of files) {
      const imports = readFileSync(join(root, file), 'utf8').matchAll(/ from '([^']+)'|import\('([^']+)'\)/g)
      for (const [, name = '', lazy = ''] of imports) {
        const path = name || lazy
        expect(`${file}: ${path}`).toMatch(/: (?:automaton|valibot|zx|\.\/.+|\.\.\/(?!\.\.\/|src).+)$/)
      }
    }
  })
})
