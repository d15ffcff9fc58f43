import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject, must } from '../helpers/project.ts'

const template = {
  'README.md': '# test\n',
  'src/work.txt': 'start\n',
  'ours/loop.json': JSON.stringify({
    schema_version: 1,
    description: 'Ours',
    work_source: { kind: 'backlog' },
    roles: { implement: { prompt: 'our-way.md' } },
    brakes: { max_iterations: 3 },
  }),
  'ours/our-way.md': 'Do it our way. Leave your artifact at {output}.\n\n{task_brief}\n',
}

test('a template of a person’s own makes a loop with all its keys and prompts', async () => {
  using p = await makeProject({ files: template, template: './ours' })
  const config = JSON.parse(readFileSync(join(p.loopDir, 'loop.json'), 'utf8'))
  expect(config).toMatchObject({ name: 'nightly', description: 'Ours', brakes: { max_iterations: 3 } })
  await must(p.tick())
  const prompt = readFileSync(join(p.loopDir, 'outputs', 'tick1-implement-prompt.md'), 'utf8')
  expect(prompt).toStartWith('Do it our way.')
  expect(prompt).toContain('Fix it, please.')
})

test('a template that a session left in a worktree is refused, and no loop is made', async () => {
  using p = await makeProject({ files: template })
  await must(p.tick())
  const done = await p.call(['create-loop', 'more', '--from-template', join(p.worktree, 'ours')])
  expect(done.code).toBe(2)
  expect(done.stderr).toContain('template refused')
  expect((await must(p.call(['loop-list', '--json']))).json().loops).toHaveLength(1)
})
