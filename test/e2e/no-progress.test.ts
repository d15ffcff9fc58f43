import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject, must } from '../helpers/project.ts'

setDefaultTimeout(60_000)

// Passes, but `complete` cannot be reached from `implement`: the operation is refused, tick after tick.
const stubborn = 'automaton transition "$AUTOMATON_TASK" complete --reason "it is done"'

test('a loop whose orchestrate session always asks for a move that is refused ends at max_iterations', async () => {
  using p = await makeProject({
    loop: { brakes: { max_iterations: 4 } },
    scenario: { orchestrate: stubborn },
  })
  for (const n of [1, 2, 3]) {
    const report = (await must(p.tick('--json'))).json()
    expect(report).toMatchObject({ tick: n, to: 'implement', action: 'hold' })
    expect(p.state().next_hint).toContain('The task stayed in its phase')
  }
  expect((await p.tick()).code).toBe(4)
  expect(p.state()).toMatchObject({ iteration_count: 4, halt: { reason: 'iterations_exhausted' } })
  expect((await p.tick()).code).toBe(3)
  expect(existsSync(join(p.scenarioDir, '.ran-implement-5'))).toBe(false)
})

test('with verdicts that fail as well, it ends as soon as the scores stop rising', async () => {
  const verify = `echo '{"pass": false, "score": 0.4, "reasons": ["no"], "next_hint": ""}'`
  using p = await makeProject({ scenario: { orchestrate: stubborn, verify } })
  for (const _ of [1, 2]) await must(p.tick())
  expect((await p.tick()).code).toBe(4)
  expect(p.state()).toMatchObject({ iteration_count: 3, halt: { reason: 'verifier_failed' } })
})
