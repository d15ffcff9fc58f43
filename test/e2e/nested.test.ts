import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject } from '../helpers/project.ts'

test('what --discard takes out of the worktree is in the folder that it names', async () => {
  using p = await makeProject({
    scenario: {
      implement: 'git init -q src/inner; echo work > src/inner/f; echo done > "$AUTOMATON_OUTPUT"',
    },
  })
  expect((await p.tick()).code).toBe(4)
  const halt = p.state().halt.id
  const call = await p.call(['approve', '--loop', p.loop, '--halt', halt, '--discard', '--json'])
  const report = call.json()
  expect(report).toMatchObject({ approved: true, status: 'running' })
  const folder = String(report.kept_folder)
  expect(folder).toStartWith(join(p.loopDir, 'kept'))
  expect(readFileSync(join(folder, 'src/inner/f'), 'utf8')).toBe('work\n')
})

test('what a tick that was killed had in a repository of its own is kept, and the next tick says where', async () => {
  const pid = `$(tr -d ' \\n' < ../run.json | sed 's/.*"automaton":{[^}]*"pid":\\([0-9]*\\).*/\\1/')`
  using p = await makeProject({
    scenario: { implement: `git init -q src/inner; echo work > src/inner/f; kill -9 ${pid}; sleep 30` },
  })
  await p.tick()
  const { run } = JSON.parse(readFileSync(join(p.loopDir, 'run.json'), 'utf8'))
  p.script({ implement: 'echo done > "$AUTOMATON_OUTPUT"' })
  const report = (await p.tick('--json')).json()
  const folder = join(p.loopDir, 'kept', run)
  expect(String(report.recovered)).toContain(folder)
  expect(readFileSync(join(folder, 'src/inner/f'), 'utf8')).toBe('work\n')
})
