import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goodAgent, makeProject, must, type TestProject } from '../helpers/project.ts'

const failing = `echo '{"pass": false, "score": 0.3, "reasons": ["no"], "next_hint": ""}'`

/** Approves the loop's current halt as a person who has read its id. */
async function approve(p: TestProject, ...extra: string[]) {
  return p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id, ...extra])
}

describe('the five deaths', () => {
  test('iterations_exhausted: max_iterations 1 halts on tick 1, and approve lets the next tick run', async () => {
    using p = await makeProject({ loop: { brakes: { max_iterations: 1 } }, scenario: { verify: failing } })
    const first = await p.tick()
    expect(first.code).toBe(4)
    expect(p.state()).toMatchObject({
      status: 'halted',
      halt: { reason: 'iterations_exhausted' },
      iteration_count: 1,
    })
    expect((await p.tick()).code).toBe(3)
    expect(p.state().iteration_count).toBe(1)
    await must(approve(p))
    expect(p.state()).toMatchObject({ status: 'running', resumed_count: 1, iteration_count: 1 })
    expect((await p.tick()).code).toBe(4)
    expect(p.state().iteration_count).toBe(2)
  })

  test('verifier_failed: flat scores over the window halt, and approve lets the next tick run', async () => {
    using p = await makeProject({ scenario: { verify: failing } })
    expect((await p.tick()).code).toBe(0)
    expect((await p.tick()).code).toBe(0)
    expect((await p.tick()).code).toBe(4)
    expect(p.state().halt).toMatchObject({ reason: 'verifier_failed' })
    await must(approve(p))
    expect((await p.tick()).code).toBe(0)
  })

  test('verifier_failed: an unreadable verdict halts, and its raw text is kept', async () => {
    using p = await makeProject({ scenario: { verify: 'echo "looks good to me"' } })
    expect((await p.tick()).code).toBe(4)
    expect(p.state()).toMatchObject({
      halt: { reason: 'verifier_failed' },
      iteration_count: 1,
      score_history: [],
    })
    expect(readFileSync(join(p.loopDir, 'outputs', 'tick1-verdict.txt'), 'utf8').trim()).toBe(
      'looks good to me',
    )
    p.script({ verify: goodAgent.verify ?? '' })
    await must(approve(p))
    expect((await p.tick()).code).toBe(0)
  })

  test('drift_detected: a file out of scope halts before verify is spent', async () => {
    using p = await makeProject({
      createArgs: ['--scope', 'src/'],
      scenario: { implement: 'echo x >> README.md; echo done > "$AUTOMATON_OUTPUT"', verify: 'exit 9' },
    })
    expect((await p.tick()).code).toBe(4)
    expect(p.state()).toMatchObject({
      halt: { reason: 'drift_detected', files: ['README.md'] },
      iteration_count: 1,
    })
    expect(existsSync(join(p.loopDir, 'outputs', 'tick1-verify-prompt.md'))).toBe(false)
    const first = p.state().halt.id
    // The file is still there: approving halts again, under a new id.
    expect((await approve(p)).code).toBe(3)
    expect(p.state().halt.id).not.toBe(first)
    await must(approve(p, '--discard'))
    p.script({ implement: goodAgent.implement ?? '', verify: goodAgent.verify ?? '' })
    expect((await p.tick()).code).toBe(0)
    expect(p.git('for-each-ref', '--format=%(refname)', 'refs/automaton/kept')).toContain(
      'refs/automaton/kept/nightly/',
    )
  })

  test('drift_detected: a worktree edited between ticks is seen by the next check-gate', async () => {
    using p = await makeProject({ createArgs: ['--scope', 'src/'] })
    await must(p.tick())
    writeFileSync(join(p.worktree, 'README.md'), 'changed by hand\n')
    const gate = await p.call(['check-gate', p.loop])
    expect(gate.code).toBe(3)
    expect(gate.json()).toMatchObject({
      ok: false,
      reason: 'halted:drift_detected',
      halt_reason: 'drift_detected',
      task_in_halt_loop: true,
      out_of_scope_files: ['README.md'],
    })
    expect(p.state().status).toBe('halted')
    await must(approve(p, '--discard'))
    expect((await p.tick()).code).toBe(0)
  })

  test('human_intervention: a BLOCKED referee halts and releases the task', async () => {
    using p = await makeProject({
      scenario: {
        implement: 'echo x >> src/work.txt; printf "stuck\\nVerdict: BLOCKED\\n" > "$AUTOMATON_OUTPUT"',
        orchestrate:
          'automaton transition "$AUTOMATON_TASK" human_intervention --reason "referee is blocked"',
      },
    })
    expect((await p.tick()).code).toBe(4)
    expect(p.state()).toMatchObject({
      status: 'halted',
      halt: { reason: 'human_intervention' },
      current_task: null,
      last_task: 'fix-it',
    })
    expect(p.task()).toMatchObject({ phase: 'human_intervention', blocked_reason: 'referee is blocked' })
    await must(p.call(['approve', '--task', 'fix-it']))
    await must(approve(p))
    p.script({ implement: goodAgent.implement ?? '', orchestrate: goodAgent.orchestrate ?? '' })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ task: 'fix-it', to: 'code_review' })
  })

  test('budget_exhausted: reported money over the cap halts, and approve moves the baseline', async () => {
    using p = await makeProject({
      loop: { brakes: { max_budget_usd: 1 } },
      scenario: {
        implement: `${goodAgent.implement}\necho '{"usd": 0.75, "tokens": 1000}' > "$AUTOMATON_COST_FILE"`,
        verify: `echo '{"usd": 0.5, "tokens": 10}' > "$AUTOMATON_COST_FILE"\n${goodAgent.verify}`,
        orchestrate: `echo '{"usd": 0, "tokens": 1}' > "$AUTOMATON_COST_FILE"\n${goodAgent.orchestrate}`,
      },
    })
    expect((await p.tick()).code).toBe(4)
    expect(p.state()).toMatchObject({
      halt: { reason: 'budget_exhausted' },
      cost: { usd: 1.25, tokens: 1010, reported: true },
      last_verdict: { pass: true, score: 0.9 },
    })
    // The session that would have started over the cap was not started; the tick did work, and counts.
    expect(existsSync(join(p.scenarioDir, '.ran-orchestrate-1'))).toBe(false)
    expect(p.task().phase).toBe('implement')
    await must(approve(p))
    expect(p.state().cost_base).toEqual({ usd: 1.25, tokens: 1010 })
    const again = await p.tick()
    expect(again.code).toBe(4)
    expect(p.state().iteration_count).toBe(2)
  })

  test('budget_exhausted: with a cap, a session that reports no cost is not free', async () => {
    using p = await makeProject({ loop: { brakes: { max_budget_usd: 1 } } })
    expect((await p.tick()).code).toBe(4)
    expect(p.state().halt).toMatchObject({ reason: 'budget_exhausted', detail: 'budget_unknown' })
    p.configure({ brakes: { unknown_cost: 'ignore' } })
    await must(approve(p))
    expect((await p.tick()).code).toBe(0)
  })

  test('budget_exhausted: wall time and tokens count too', async () => {
    using p = await makeProject({ loop: { brakes: { max_wall_seconds: 0.001 } } })
    expect((await p.tick()).code).toBe(4)
    expect(p.state().halt.reason).toBe('budget_exhausted')
  })
})

describe('a harness that fails', () => {
  test('counts as an error, not as an iteration, and three in a row halt', async () => {
    using p = await makeProject({ scenario: { implement: 'echo broken >&2; exit 3' } })
    for (const errors of [1, 2]) {
      const call = await p.tick('--json')
      expect(call.code).toBe(5)
      expect(call.json()).toMatchObject({ outcome: 'session_failed', errorsInARow: errors })
      expect(JSON.stringify(call.json())).toContain('broken')
    }
    expect((await p.tick()).code).toBe(4)
    expect(p.state()).toMatchObject({
      iteration_count: 0,
      halt: { reason: 'human_intervention', detail: 'harness_error' },
    })
    p.script({ implement: goodAgent.implement ?? '' })
    await must(approve(p))
    expect((await p.tick()).code).toBe(0)
    expect(p.state().consecutive_errors).toBe(0)
  })

  test('a hanging session is ended with its whole process tree', async () => {
    using p = await makeProject({
      loop: { harness: { idle_seconds: 1 } },
      scenario: { implement: 'setsid sleep 300 & sleep 300 & echo $! > "$AUTOMATON_HOME.pid"; wait' },
    })
    const call = await p.tick('--json')
    expect(call.code).toBe(5)
    expect(JSON.stringify(call.json())).toContain('idle_seconds')
    const left = Bun.spawnSync(['pgrep', '-f', 'sleep 300']).stdout.toString()
    for (const pid of left.split('\n').filter(Boolean)) {
      const environ = await Bun.file(`/proc/${pid}/environ`)
        .text()
        .catch(() => '')
      expect(environ).not.toContain(p.root)
    }
  })
})
