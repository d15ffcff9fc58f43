import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pluginProject } from '../helpers/plugins.ts'
import { must } from '../helpers/project.ts'

const page = readFileSync(join(import.meta.dir, '..', '..', 'docs', 'plugins.md'), 'utf8')
const examples = Object.fromEntries(
  [...page.matchAll(/^```ts file=(\S+)\n([\s\S]*?)^```$/gm)].map(([, file = '', text = '']) => [file, text]),
)
const names = Object.keys(examples)
  .filter((file) => !file.includes('.test.'))
  .map((file) => file.replace('.ts', ''))

test('docs/plugins.md has one example for each role, and two for hooks', () => {
  const roles = names.map((name) => /role: '(\w+)'/.exec(examples[`${name}.ts`] ?? '')?.[1] ?? 'hooks')
  expect(roles.sort()).toEqual(['harness', 'hooks', 'hooks', 'scheduler', 'source', 'verifier'])
})

test.each(names)('the example %s of docs/plugins.md passes what it is checked for', async (name) => {
  const temporary = mkdtempSync(join(tmpdir(), 'automaton-test-'))
  try {
    using project = await pluginProject({ plugins: examples, trusted: [name], task: false })
    const env = { TMPDIR: temporary }
    const check = await must(project.call(['plugins', 'check', name, '--json'], { env }))
    expect(check.json()).toMatchObject({ ok: true, notes: [] })
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
})

test('the examples of docs/plugins.md work together in one tick', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'automaton-test-'))
  try {
    using project = await pluginProject({
      plugins: examples,
      trusted: names,
      task: false,
      files: { 'TODO.md': '- [ ] paint the door\n', 'src/work.txt': 'start\n' },
      scenario: { implement: 'echo "TODO later" >> src/work.txt; echo made > "$AUTOMATON_OUTPUT"' },
      loop: {
        work_source: { kind: 'todo-file' },
        verifiers: [{ use: 'no-todos' }],
        brakes: { max_iterations: 1 },
      },
    })
    const tick = await project.call(['tick', 'nightly', '--json'], { env: { TMPDIR: temporary } })
    expect(tick.code).toBe(4)
    expect(tick.json()).toMatchObject({
      task: 'paint-the-door',
      verdict: { pass: false, reasons: ['+TODO later'] },
    })
    const bell = join(temporary, 'automaton-bell.log')
    expect(existsSync(bell) && readFileSync(bell, 'utf8')).toContain('nightly: iterations_exhausted')
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
})
