import { expect, setDefaultTimeout, test } from 'bun:test'
import { makeProject, must } from '../helpers/project.ts'

setDefaultTimeout(60_000)

test('the changes of a tick that halted over them are shown: where they lie, and where an approval put them', async () => {
  using p = await makeProject({
    createArgs: ['--scope', 'src/'],
    scenario: { implement: 'echo mine > outside.txt; echo done > "$AUTOMATON_OUTPUT"' },
  })
  expect((await p.tick()).code).toBe(4)
  const shown = async () => (await must(p.call(['log', p.loop, '--tick', '1', '--json']))).json()
  const live = await shown()
  expect(live.aside).toBe(p.worktree)
  expect(live.diff).toContain('+mine')
  await must(p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id, '--discard']))
  const { kept } = p.log().at(-1).data
  const put = await shown()
  expect(put.aside).toBe(kept)
  expect(put.diff).toContain('+mine')
  const text = (await p.call(['log', p.loop, '--tick', '1'])).stdout
  expect(text).toContain(`not committed; kept as ${kept}`)
})

test('the changes of a tick that died are shown from where they were kept', async () => {
  using p = await makeProject({
    scenario: { 'implement-2': 'echo half >> src/work.txt; kill -9 $PPID; sleep 30' },
  })
  await must(p.tick())
  await p.tick()
  p.configure({ brakes: { max_iterations: 1 } })
  await p.tick()
  const report = (await must(p.call(['log', p.loop, '--tick', '2', '--json']))).json()
  expect(report.aside).toStartWith('refs/automaton/recovered/')
  expect(report.diff).toContain('+half')
})
