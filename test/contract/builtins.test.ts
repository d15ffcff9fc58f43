import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtinPlugins } from '../../plugins/index.ts'
import { goodRuns } from './good-runs.ts'
import { harnessContract } from './harness.ts'
import { machines } from './machines.ts'
import { schedulerContract } from './scheduler.ts'
import { sourceContract } from './source.ts'
import { verifierContract } from './verifier.ts'

const harnesses: Record<string, { options?: unknown; goodRun: string }> = {
  ...Object.fromEntries(Object.entries(goodRuns).map(([name, goodRun]) => [name, { goodRun }])),
  command: { options: { command: ['agent', '--model', '{model}', '{prompt_content}'] }, goodRun: 'Done.\n' },
}
const sourceOptions: Record<string, unknown> = { ci: { commands: ['ci'] }, command: { command: ['tracker'] } }
const verifierOptions: Record<string, unknown> = {
  command: { commands: ['npm', 'test'] },
  metric: { command: ['measure'], direction: 'up', target: 10, from: 0 },
}

for (const plugin of builtinPlugins) {
  switch (plugin.role) {
    case 'source':
      sourceContract(plugin, sourceOptions[plugin.name])
      break
    case 'verifier':
      verifierContract(plugin, verifierOptions[plugin.name], plugin.name === 'metric' ? '10' : '')
      break
    case 'harness': {
      const known = harnesses[plugin.name]
      if (!known) throw new Error(`the contract suite knows no good run of ${plugin.name}`)
      harnessContract({ plugin, ...known })
      break
    }
    case 'scheduler': {
      const machine = machines[plugin.name]
      if (!machine) throw new Error(`the contract suite has no machine for ${plugin.name}`)
      schedulerContract(plugin, machine)
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
      'source:ci',
      'source:command',
      'source:single',
      'verifier:command',
      'verifier:metric',
      'verifier:session',
      'harness:aider',
      'harness:amp',
      'harness:claude',
      'harness:codex',
      'harness:command',
      'harness:copilot',
      'harness:cursor',
      'harness:gemini',
      'harness:goose',
      'harness:opencode',
      'harness:qwen',
      'hooks:command',
      'hooks:desktop',
      'hooks:webhook',
      'scheduler:cron',
      'scheduler:launchd',
      'scheduler:schtasks',
      'scheduler:systemd',
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
