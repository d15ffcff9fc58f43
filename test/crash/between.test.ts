import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject, must, type TestProject } from '../helpers/project.ts'

const acts: [string, (p: TestProject) => Promise<unknown>][] = [
  [
    'pauses and resumes the loop',
    async (p) => {
      await must(p.call(['pause-loop', p.loop]))
      await must(p.call(['resume-loop', p.loop]))
    },
  ],
  ['starts the branch again from the base branch', (p) => must(p.call(['sync', p.loop]))],
  [
    'has the gate halt it, and approves',
    async (p) => {
      p.configure({ brakes: { max_iterations: 1 } })
      await p.call(['check-gate', p.loop])
      p.configure({ brakes: { max_iterations: 20 } })
      await must(p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id]))
    },
  ],
  [
    'repairs a state that was damaged, and approves',
    async (p) => {
      writeFileSync(join(p.loopDir, '.state.loop'), '')
      await must(p.call(['repair', p.loop]))
      await must(p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id]))
    },
  ],
]

for (const [name, act] of acts) {
  test(`a person who ${name} after a tick died has tampered with nothing`, async () => {
    using p = await makeProject({
      scenario: { 'implement-2': 'echo half >> src/work.txt; kill -9 $PPID; sleep 30' },
    })
    await must(p.tick())
    const config = readFileSync(join(p.loopDir, 'loop.json'), 'utf8')
    await p.tick()
    await act(p)
    writeFileSync(join(p.loopDir, 'loop.json'), config)
    const next = (await must(p.tick('--json'))).json()
    expect(next).toMatchObject({ outcome: 'worked', tick: 2 })
    expect(next.recovered).toContain('did not finish')
    expect(p.git('merge-base', '--is-ancestor', p.state().base_sha, 'automaton/nightly')).toBe('')
  })
}

test('a session that forged the state before it died is found out, also after a pause', async () => {
  const forge = `sed -i 's/"iteration_count": 1/"iteration_count": 0/' ../.state.loop; kill -9 $PPID; sleep 30`
  using p = await makeProject({ scenario: { 'implement-2': forge } })
  await must(p.tick())
  await p.tick()
  expect((await p.call(['pause-loop', p.loop])).code).toBe(6)
  expect((await p.tick()).code).toBe(6)
})
