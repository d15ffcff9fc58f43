import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { binary, callEnv } from '../helpers/cli.ts'
import { goodAgent, makeProject, type TestProject } from '../helpers/project.ts'

/** Starts the daemon; `stop` ends it with SIGTERM and gives its exit code. */
function startDaemon(p: TestProject, ...args: string[]) {
  const child = Bun.spawn([binary, 'daemon', ...args], {
    cwd: p.root,
    env: callEnv({ cwd: p.root, home: p.home }),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const told: string[] = []
  const reading = (async () => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of child.stderr) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      told.push(...lines)
    }
  })()
  return {
    /** The lines that it told so far. */
    told,
    async stop() {
      child.kill('SIGTERM')
      await Promise.all([child.exited, reading])
      return child.exitCode
    },
  }
}

async function until(condition: () => boolean, seconds = 40): Promise<void> {
  const limit = Date.now() + seconds * 1000
  while (!condition()) {
    if (Date.now() > limit) throw new Error('it did not happen in time')
    await Bun.sleep(25)
  }
}

test('the daemon takes one task from implement to complete, unattended', async () => {
  using p = await makeProject({
    createArgs: ['--task', 'fix-it'],
    loop: { schedule: { kind: 'daemon', interval_seconds: 1 } },
  })
  const daemon = startDaemon(p, p.loop)
  await until(() => p.state().status === 'complete')
  expect(await daemon.stop()).toBe(143)
  expect(daemon.told[0]).toBe('nightly: tick 1, fix-it implement → code_review, pass 0.90')
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
  await until(() => daemon.told.length > 0)
  const first = performance.now()
  await until(() => daemon.told.length > 1)
  expect(performance.now() - first).toBeGreaterThan(1000)
  await daemon.stop()
  expect(daemon.told[0]).toStartWith('nightly: did not tick: refused:harness, no-such-agent is in no folder')
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
