import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { binary, callEnv } from '../helpers/cli.ts'
import { startDaemon, until } from '../helpers/daemon.ts'
import { goodAgent, makeProject } from '../helpers/project.ts'

test('the daemon takes one task from implement to complete, unattended', async () => {
  using p = await makeProject({
    createArgs: ['--task', 'fix-it'],
    loop: { schedule: { kind: 'daemon', interval_seconds: 1 } },
  })
  const daemon = startDaemon(p, p.loop)
  await until(() => daemon.told.at(-1) === 'nightly: complete')
  expect(await daemon.stop()).toBe(143)
  expect(daemon.told.slice(0, 2)).toEqual([
    'nightly: ticks now, every 1 s',
    'nightly: tick 1, fix-it implement → code_review, pass 0.90',
  ])
  expect(p.task().phase).toBe('complete')
  expect(p.task().history.map((entry: { to: string }) => entry.to)).toEqual([
    'implement',
    'code_review',
    'bug_hunt',
    'adversarial_review',
    'referee',
    'complete',
  ])
  expect(p.state()).toMatchObject({ iteration_count: 5, current_task: null })
  expect(p.git('rev-list', '--count', 'main..automaton/nightly')).toBe('5')
}, 60_000)

test('SIGTERM to the daemon ends the session that runs, and the work is kept', async () => {
  using p = await makeProject({
    loop: { schedule: { kind: 'daemon', interval_seconds: 1 } },
    scenario: {
      implement: `echo half >> src/work.txt; echo started > ${'$AUTOMATON_HOME'}.started; sleep 100`,
    },
  })
  const daemon = startDaemon(p)
  await until(() => Bun.spawnSync(['sh', '-c', `test -e '${p.home}/.automaton.started'`]).exitCode === 0)
  const started = Date.now()
  expect(await daemon.stop()).toBe(143)
  expect(Date.now() - started).toBeLessThan(8000)
  expect(daemon.told.slice(1)).toEqual(['nightly: the tick was interrupted'])
  expect(p.state()).toMatchObject({ status: 'running', iteration_count: 0, incomplete_ticks: 0 })
  const kept = p.git('for-each-ref', '--format=%(refname)', 'refs/automaton/recovered')
  expect(kept).toStartWith('refs/automaton/recovered/')
  expect(p.git('show', `${kept}:src/work.txt`)).toContain('half')
  p.script({ implement: goodAgent.implement ?? '' })
  expect((await p.tick('--json')).json()).toMatchObject({ outcome: 'worked', to: 'code_review' })
}, 60_000)

test('a loop that is refused is told about in one line, and not tried again at once', async () => {
  using p = await makeProject({
    loop: { harness: { command: ['no-such-agent'] }, schedule: { kind: 'daemon', interval_seconds: 3 } },
  })
  const daemon = startDaemon(p)
  await until(() => daemon.told.length > 1)
  const first = performance.now()
  await until(() => daemon.told.length > 2)
  expect(performance.now() - first).toBeGreaterThan(1000)
  await daemon.stop()
  expect(daemon.told[1]).toStartWith('nightly: did not tick: refused:harness, no-such-agent is in no folder')
}, 60_000)

test('a pause that was asked for during a tick that was killed holds before the next one', async () => {
  using p = await makeProject({ scenario: { implement: 'touch "$AUTOMATON_HOME.started"; sleep 100' } })
  const tick = Bun.spawn([binary, 'tick', p.loop], {
    cwd: p.root,
    env: callEnv({ cwd: p.root, home: p.home }),
  })
  await until(() => existsSync(`${p.home}/.automaton.started`))
  expect((await p.call(['pause-loop', p.loop])).code).toBe(0)
  tick.kill('SIGKILL')
  await tick.exited
  expect((await p.tick()).code).toBe(3)
  expect(p.state()).toMatchObject({ status: 'paused', iteration_count: 0 })
}, 60_000)
