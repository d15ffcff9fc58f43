import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '../helpers/cli.ts'
import { must } from '../helpers/project.ts'
import { cheapLoop, start, until } from './loops.ts'

const rounds = process.env.TEST_FULL ? 50 : 5
const intervals = process.env.TEST_FULL ? 100 : 8

test(`20 ticks at once, ${rounds} times: never two sessions at a time, and the count is exact`, async () => {
  using loop = await cheapLoop('lone-agent')
  const { p } = loop
  let worked = 0
  for (let n = 0; n < rounds; n++) {
    const calls = await Promise.all(Array.from({ length: 20 }, () => p.tick('--json')))
    expect(calls.map((call) => call.code)).toEqual(calls.map(() => 0))
    const outcomes = calls.map((call) => call.json().outcome)
    worked += outcomes.filter((outcome) => outcome === 'worked').length
    expect(outcomes.every((outcome) => outcome === 'worked' || outcome === 'busy')).toBe(true)
    expect(p.state().iteration_count).toBe(worked)
  }
  expect(worked).toBeGreaterThanOrEqual(rounds)
  expect(loop.lines('sessions')).toHaveLength(worked)
  expect(loop.lines('violations')).toEqual([])
}, 600_000)

test(`a daemon and a scheduler over ${intervals} intervals: never two sessions at a time, and the count is exact`, async () => {
  using loop = await cheapLoop('lone-agent', {
    loop: { schedule: { kind: 'native', interval_seconds: 0.4 } },
  })
  const { p } = loop
  const daemon = start(p, 'daemon', p.loop)
  const silent: Call[] = []
  while (loop.lines('sessions').length < intervals) silent.push(await p.tick('--scheduled'))
  daemon.kill('SIGTERM')
  await daemon.exited
  expect(silent.filter((call) => call.code !== 0 || call.stdout !== '' || call.stderr !== '')).toEqual([])
  const interrupted = p.log().filter((record) => record.type === 'interrupted').length
  expect(p.state()).toMatchObject({ status: 'running', incomplete_ticks: 0 })
  // The tick that was told to stop may not have come to its session yet.
  const unfinished = loop.lines('sessions').length - p.state().iteration_count
  expect([0, interrupted]).toContain(unfinished)
  expect(loop.lines('violations')).toEqual([])
}, 300_000)

test('20 ticks at once at a limit of three iterations work three times', async () => {
  using loop = await cheapLoop('lone-agent', {
    loop: { brakes: { max_iterations: 3, score_plateau_window: 0 } },
  })
  const { p } = loop
  while (p.state().status === 'running') {
    const calls = await Promise.all(Array.from({ length: 20 }, () => p.tick()))
    expect(calls.every(({ code }) => code === 0 || code === 3 || code === 4)).toBe(true)
  }
  expect(p.state()).toMatchObject({ iteration_count: 3, halt: { reason: 'iterations_exhausted' } })
  expect(loop.lines('sessions')).toHaveLength(3)
}, 60_000)

test('a halted loop that is ticked a hundred times starts nothing, says nothing and writes no state', async () => {
  using loop = await cheapLoop('lone-agent', { loop: { brakes: { max_iterations: 1 } } })
  const { p } = loop
  expect((await p.tick()).code).toBe(4)
  const files = ['.state.loop', '.state.log'].map((name) => join(p.loopDir, name))
  const before = files.map((file) => readFileSync(file, 'utf8'))
  for (let n = 0; n < 10; n++) {
    const calls = await Promise.all(Array.from({ length: 10 }, () => p.tick('--scheduled')))
    expect(calls.map(({ stdout, stderr }) => stdout + stderr).join('')).toBe('')
    expect(new Set(calls.map(({ code }) => code)).difference(new Set([0, 3]))).toEqual(new Set())
  }
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before)
  expect(loop.lines('sessions')).toHaveLength(1)
  expect(statSync(join(p.loopDir, 'scheduled.log')).size).toBeLessThan(1 << 20)
}, 60_000)

test('50 loops claim one task at once: one owner', async () => {
  using loop = await cheapLoop('lone-agent')
  const { p } = loop
  const names = Array.from({ length: 50 }, (_, n) => `loop-${n}`)
  for (let n = 0; n < names.length; n += 10) {
    const some = names.slice(n, n + 10)
    await Promise.all(some.map((name) => must(p.call(['create-loop', name, '--from-template', 'backlog']))))
  }
  const calls = await Promise.all(names.map((name) => p.call(['claim-loop-task', name, '--task', 'fix-it'])))
  const answers = calls.map((call) => ({ code: call.code, ...call.json() }) as Record<string, unknown>)
  const [owner, ...others] = answers.filter((answer) => answer.ok)
  expect(others).toEqual([])
  expect(owner).toMatchObject({ code: 0, task: 'fix-it' })
  for (const answer of answers) {
    if (answer !== owner) expect(answer).toMatchObject({ ok: false, code: 3, owner: owner?.owner })
  }
}, 120_000)

test('50 people claim one task at once: one owner', async () => {
  using loop = await cheapLoop('lone-agent')
  const calls = await Promise.all(
    Array.from({ length: 50 }, () => loop.p.call(['claim', 'fix-it', '--json'])),
  )
  expect(calls.every((call) => call.code === 0 || call.code === 3)).toBe(true)
  expect(calls.some((call) => call.code === 0)).toBe(true)
  expect(loop.p.task().claimed_by).not.toBeNull()
}, 120_000)

test('a pause while a tick works is applied when it settles, and a resume takes it back', async () => {
  using loop = await cheapLoop('waiting-agent')
  const { p, folder } = loop
  for (const status of ['paused', 'running']) {
    const tick = start(p, 'tick', p.loop)
    await until(() => existsSync(join(folder, 'started')), 'the session starts')
    const paused = await must(p.call(['pause-loop', p.loop, '--json']))
    expect(paused.json()).toMatchObject({ requested: true, status: 'running' })
    if (status === 'running') await must(p.call(['resume-loop', p.loop]))
    writeFileSync(join(folder, 'go'), '')
    await tick.exited
    expect(tick.exitCode).toBe(0)
    expect(p.state().status).toBe(status)
    for (const name of ['started', 'go']) unlinkSync(join(folder, name))
    if (status === 'paused') await must(p.call(['resume-loop', p.loop]))
  }
  expect(p.state().iteration_count).toBe(2)
}, 60_000)

test('an approval while the lock is held waits, is refused after five seconds, and works later', async () => {
  using loop = await cheapLoop('lone-agent', { loop: { brakes: { max_iterations: 1 } } })
  const { p } = loop
  expect((await p.tick()).code).toBe(4)
  const held = holder(p.loopDir)
  await held.ready
  const args = ['approve', '--loop', p.loop, '--halt', p.state().halt.id]
  const late = await p.call(args)
  expect(late.code).toBe(3)
  expect(late.stderr).toContain('busy')
  expect(p.state()).toMatchObject({ status: 'halted', resumed_count: 0 })
  const waiting = p.call(args)
  held.release()
  await must(waiting)
  expect(p.state()).toMatchObject({ status: 'running', resumed_count: 1 })
}, 60_000)

test('approvals, pauses, resumes and ticks all at once leave one history', async () => {
  using loop = await cheapLoop('lone-agent')
  const { p } = loop
  const calls = [
    'tick',
    'pause-loop',
    'resume-loop',
    'check-gate',
    'tick',
    'pause-loop',
    'resume-loop',
    'tick',
  ]
  for (let n = 0; n < 3; n++) {
    const ended = await Promise.all(calls.map((verb) => p.call([verb, p.loop])))
    expect(ended.every((call) => call.code === 0 || call.code === 3)).toBe(true)
  }
  if (p.state().status === 'paused') await must(p.call(['resume-loop', p.loop]))
  await must(p.tick())
  const log = p.log()
  expect(log.map((record) => record.seq)).toEqual(log.map((_, n) => n + 1))
  expect(p.state().seq).toBe(log.length)
  expect(loop.lines('sessions')).toHaveLength(p.state().iteration_count)
  expect(loop.lines('violations')).toEqual([])
}, 120_000)

test('deleting the lock file while a tick works lets no second tick in', async () => {
  using loop = await cheapLoop('waiting-agent')
  const { p, folder } = loop
  const tick = start(p, 'tick', p.loop)
  await until(() => existsSync(join(folder, 'started')), 'the session starts')
  unlinkSync(join(p.loopDir, '.state.lock'))
  expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'busy' })
  expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'busy' })
  writeFileSync(join(folder, 'go'), '')
  await tick.exited
  expect(tick.exitCode).toBe(0)
  expect(p.state().iteration_count).toBe(1)
  expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked' })
}, 60_000)

test('a tick that is stopped keeps its lock, however old, and goes on where it was', async () => {
  using loop = await cheapLoop('waiting-agent')
  const { p, folder } = loop
  const tick = start(p, 'tick', p.loop)
  await until(() => existsSync(join(folder, 'started')), 'the session starts')
  tick.kill('SIGSTOP')
  const second = await must(p.tick('--json'))
  expect(second.json()).toMatchObject({ outcome: 'busy' })
  expect(second.stdout).toContain(`pid ${tick.pid}`)
  writeFileSync(join(folder, 'go'), '')
  tick.kill('SIGCONT')
  await tick.exited
  expect(tick.exitCode).toBe(0)
  expect(p.state().iteration_count).toBe(1)
}, 60_000)

/** Another process that holds a loop's lock. */
function holder(loopDir: string) {
  const program = join(import.meta.dir, '..', 'fixtures', 'bin', 'store-locker.ts')
  const child = Bun.spawn([process.execPath, program, 'hold', join(loopDir, '.state.lock')], {
    stdin: 'pipe',
    stdout: 'pipe',
  })
  return {
    ready: child.stdout.getReader().read(),
    release: () => child.stdin.end(),
  }
}
