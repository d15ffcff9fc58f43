import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../crash/needs.ts'
import { binary, callEnv } from '../helpers/cli.ts'
import { startDaemon, until } from '../helpers/daemon.ts'
import { goodAgent, makeProject, must, type TestProject } from '../helpers/project.ts'

const quick = {
  schedule: { kind: 'daemon', interval_seconds: 1 },
  roles: { orchestrate: { prompt: 'loop-orchestrate.md', tier: 16_000, model: null, mode: 'rules' } },
  verifiers: [{ use: 'command', options: { commands: ['true'] } }],
  blast_radius: { sandbox: 'off' },
}

/** Makes a loop that works as the project's first one does. */
async function addLoop(p: TestProject, name: string): Promise<void> {
  await must(p.call(['create-loop', name, '--from-template', 'backlog']))
  const config = JSON.parse(readFileSync(join(p.loopDir, 'loop.json'), 'utf8'))
  writeFileSync(join(p.loopDir, '..', name, 'loop.json'), JSON.stringify({ ...config, name }))
}

async function addTask(p: TestProject, name: string): Promise<void> {
  await must(p.call(['create-task', name, '--brief', '-'], { stdin: 'Do it.\n' }))
}

/** A project of two loops, whose sessions note beside HOME when they begin and end. */
async function twoLoops(scenario: string) {
  const p = await makeProject({ loop: quick })
  const marks = `${p.home}/.automaton.marks`
  p.script({
    implement: `mark() { echo "$AUTOMATON_IN_TICK $AUTOMATON_TASK $1" >> "$AUTOMATON_HOME.marks"; }\nmark begins\n${scenario}\n${goodAgent.implement}\nmark ends`,
  })
  await addLoop(p, 'weekly')
  const lines = () => (existsSync(marks) ? readFileSync(marks, 'utf8').trimEnd().split('\n') : [])
  return { p, lines, [Symbol.dispose]: () => p[Symbol.dispose]() }
}

test('loops take turns, one session at a time', async () => {
  using two = await twoLoops('')
  await addTask(two.p, 'other')
  const daemon = startDaemon(two.p)
  await until(() => two.lines().length >= 8)
  await daemon.stop()
  const order = two.lines().slice(0, 8)
  expect(order.map((line) => line.split(' ')[2])).toEqual(Array(4).fill(['begins', 'ends']).flat())
  expect(order.map((line) => line.split(' ')[0])).toEqual([
    'nightly',
    'nightly',
    'weekly',
    'weekly',
    'nightly',
    'nightly',
    'weekly',
    'weekly',
  ])
}, 120_000)

test('with --parallel 2 two loops work at once, each on a task of its own', async () => {
  // Each session waits for the other loop's.
  using two = await twoLoops(
    'mkdir -p "$AUTOMATON_HOME.here/$AUTOMATON_IN_TICK"; n=0; while [ $n -lt 400 ] && [ $(ls "$AUTOMATON_HOME.here" | wc -l) -lt 2 ]; do n=$((n + 1)); sleep 0.05; done',
  )
  await addTask(two.p, 'other')
  const daemon = startDaemon(two.p, '--parallel', '2')
  await until(() => two.lines().length >= 2)
  const begun = two.lines().slice(0, 2)
  await daemon.stop()
  expect(begun.map((line) => line.split(' ')[2])).toEqual(['begins', 'begins'])
  expect(begun.map((line) => line.split(' ')[0]).sort()).toEqual(['nightly', 'weekly'])
  expect(begun.map((line) => line.split(' ')[1]).sort()).toEqual(['fix-it', 'other'])
}, 120_000)

test('--until-idle ends when all work is done, and a task is only ever one loop’s', async () => {
  using two = await twoLoops('')
  const daemon = startDaemon(two.p, '--until-idle', '--parallel', '2', '--json')
  expect(await daemon.ended).toBe(0)
  expect(two.p.task().phase).toBe('complete')
  expect(new Set(two.lines().map((line) => line.split(' ')[0])).size).toBe(1)
  expect(two.lines().map((line) => line.split(' ')[2])).toEqual(Array(5).fill(['begins', 'ends']).flat())
  const report = JSON.parse(await daemon.answer())
  expect(report).toMatchObject({
    schema: 1,
    loops: [
      { loop: 'nightly', status: 'running', detail: null },
      { loop: 'weekly', status: 'running', detail: null },
    ],
  })
  expect(report.ticks).toBeGreaterThanOrEqual(6)
}, 120_000)

test('what people change while it runs counts: intervals, new loops, a file that is broken and mended', async () => {
  using p = await makeProject({ loop: { ...quick, schedule: { kind: 'daemon', interval_seconds: 3600 } } })
  await must(p.tick())
  const daemon = startDaemon(p)
  await until(() => daemon.told.length > 0)
  expect(daemon.told[0]).toMatch(/^nightly: ticks in \d+ min, every 1 h$/)
  p.configure(quick)
  await until(() => daemon.told.includes('nightly: tick 2, fix-it code_review → bug_hunt, pass 1.00'))
  await addLoop(p, 'weekly')
  await until(() => daemon.told.includes('weekly: ticks now, every 1 s'))
  const file = join(p.loopDir, 'loop.json')
  const good = readFileSync(file, 'utf8')
  writeFileSync(file, '{')
  await until(() => daemon.told.some((line) => line.startsWith('nightly: unreadable: ')))
  writeFileSync(file, good)
  await until(() => daemon.told.filter((line) => line === 'nightly: ticks now, every 1 s').length > 1)
  await must(p.call(['pause-loop', 'weekly']))
  await until(() => daemon.told.includes('weekly: paused: automaton resume-loop weekly'))
  expect(await daemon.stop()).toBe(143)
}, 120_000)

test('a container sees by the status file whether the daemon is ready and well', async () => {
  using p = await makeProject({ loop: { ...quick, schedule: { kind: 'daemon', interval_seconds: 3600 } } })
  await must(p.tick())
  const file = join(p.home, 'daemon.json')
  const check = () => p.call(['daemon', '--check', '--status-file', file, '--json'])
  expect(await check()).toMatchObject({ code: 3 })
  const daemon = startDaemon(p, '--status-file', file)
  await until(() => existsSync(file))
  const well = await check()
  expect(well.code).toBe(0)
  expect(well.json()).toMatchObject({
    healthy: true,
    why: null,
    status: { ticks: 0, loops: [{ loop: 'nightly', status: 'running', detail: null }] },
  })
  expect(await daemon.stop()).toBe(143)
  expect(existsSync(file)).toBe(false)
  const status = well.json().status as object
  writeFileSync(file, JSON.stringify({ ...status, at: '2026-01-01T00:00:00.000Z' }))
  expect((await check()).json()).toMatchObject({
    healthy: false,
    why: expect.stringMatching(/nothing for \d+ s/),
  })
  expect((await p.call(['daemon', '--check'])).code).toBe(2)
  expect(readdirSync(p.home)).not.toContain('.daemon.json')
}, 60_000)

needs('script')(
  'Ctrl-C at a terminal ends it with whole lines',
  async () => {
    using p = await makeProject({
      loop: quick,
      scenario: { implement: 'touch "$AUTOMATON_HOME.started"; sleep 100' },
    })
    const child = Bun.spawn(['script', '-qefc', `${binary} daemon`, '/dev/null'], {
      cwd: p.root,
      env: { ...callEnv({ cwd: p.root, home: p.home }), SHELL: '/bin/sh' },
      stdin: 'pipe',
      stdout: 'pipe',
    })
    await until(() => existsSync(`${p.home}/.automaton.started`))
    child.stdin.write('\x03')
    await child.stdin.flush()
    const text = await new Response(child.stdout).text()
    expect(await child.exited).toBe(130)
    expect(text.split('\r\n')).toEqual([
      'nightly: ticks now, every 1 s',
      '^C',
      'nightly: the tick was interrupted',
      'ran 1 tick',
      '',
    ])
  },
  60_000,
)
