import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acquire } from '../../src/store/lock.ts'
import { writeRun } from '../../src/store/run.ts'
import { identify } from '../../src/system/process.ts'
import { git } from '../helpers/repo.ts'
import { halt, makeTask, type Scratch, scratch, withLoop } from './fixture.ts'

/** A tick that is at work, as far as others can see. */
/** A process that a loop's run.json calls its tick; ended with the test. */
function pretendTick(s: Scratch, loop: string): Disposable {
  const tick = Bun.spawn(['cat'], { stdin: 'pipe' })
  const automaton = identify(tick.pid)
  if (!automaton) throw new Error('no process')
  writeRun(s.places(loop), {
    schema: 1,
    run: 'r1',
    loop,
    tick: 1,
    task: 't',
    phase: 'implement',
    step: 'implement',
    automaton,
    session: null,
    started_at: new Date().toISOString(),
    state_seq: 1,
    before: { head: null, verified_sha: null, base_sha: null },
    brakes: {},
    repository: null,
    usage: { usd: 0, tokens: 0, unreported: 0 },
  })
  return { [Symbol.dispose]: () => tick.kill() }
}

describe('create-loop', () => {
  test('writes every key, private files, and says what to type next', async () => {
    using s = await withLoop('nightly', '--scope', 'src/', '--interval', '600', '--harness', 'opencode')
    const { config, state, dir } = s.places('nightly')
    const text = JSON.parse(readFileSync(config, 'utf8'))
    expect(Object.keys(text)).toContain('brakes')
    expect(text).toMatchObject({
      name: 'nightly',
      blast_radius: { worktree: true, file_scope: ['src/'], base_branch: 'main' },
      schedule: { interval_seconds: 600 },
      harness: { use: 'opencode', command: null },
    })
    expect(statSync(state).mode & 0o777).toBe(0o600)
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    expect(s.state('nightly')).toMatchObject({ status: 'running', iteration_count: 0, seq: 1 })
    expect(readFileSync(join(s.root, '.automaton/.gitignore'), 'utf8')).toContain('/loops/')
    const again = await s.run('create-loop', 'other', '--from-template', 'backlog')
    expect(again.stdout).toContain('automaton tick other')
  })

  test('with --task it works that one task', async () => {
    using s = scratch()
    await makeTask(s, 'fix-login')
    await s.run('create-loop', 'one', '--from-template', 'backlog', '--task', 'fix-login')
    const { work_source } = JSON.parse(readFileSync(s.places('one').config, 'utf8'))
    expect(work_source).toMatchObject({ kind: 'single', task: 'fix-login' })
  })

  test('leaves an existing loop as it is, exit 2', async () => {
    using s = await withLoop()
    const before = readFileSync(s.places('nightly').config, 'utf8')
    const again = await s.run('create-loop', 'nightly', '--from-template', 'ci-triage')
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('loop exists already (nightly)')
    expect(readFileSync(s.places('nightly').config, 'utf8')).toBe(before)
  })

  test('refuses what cannot be, and leaves nothing behind', async () => {
    using s = scratch()
    const rows: [args: string[], code: number, says: RegExp][] = [
      [['x', '--from-template', 'nope'], 2, /there are backlog, ci-triage, self-improvement/],
      [['x'], 2, /it needs --from-template NAME/],
      [['../x', '--from-template', 'backlog'], 2, /bad loop name/],
      [['con', '--from-template', 'backlog'], 2, /bad loop name/],
      [['x', '--from-template', 'backlog', '--base', 'gone'], 2, /base branch not found \(gone\)/],
      [['x', '--from-template', 'backlog', '--interval', 'soon'], 2, /no whole number/],
      [['x', '--from-template', 'backlog', '--scope', '../up'], 2, /file_scope/],
      [['x', '--from-template', 'backlog', '--task', 'A B'], 2, /bad task name/],
      [
        ['x', '--from-template', 'backlog', '--task', 'nope'],
        2,
        /task not found \(nope\)[\s\S]*create-task nope/,
      ],
      [['x', '--from-template', 'backlog', '--harness', 'zed'], 2, /harness \(zed\): there is .*opencode/],
      [['x', '--from-template', 'backlog', '--harness', 'command'], 2, /unknown harness \(command\)/],
    ]
    for (const [args, code, says] of rows) {
      const call = await s.run('create-loop', ...args)
      expect(call.stderr).toMatch(says)
      expect(call.code).toBe(code)
    }
    expect(existsSync(s.project.loops)).toBe(false)
  })

  test('needs git and a commit, but for --no-worktree', async () => {
    using plain = scratch(null)
    const args = ['create-loop', 'x', '--from-template', 'backlog']
    expect((await plain.run(...args, '--project', '.')).stderr).toContain('not a git repository')
    expect((await plain.run(...args, '--no-worktree')).code).toBe(0)
    expect(JSON.parse(readFileSync(plain.places('x').config, 'utf8')).blast_radius.worktree).toBe(false)
    using fresh = scratch(null)
    git(fresh.root, 'init', '-q', '-b', 'trunk')
    const call = await fresh.run(...args)
    expect(call.code).toBe(5)
    expect(call.stderr).toContain('no commit yet')
  })

  test('takes the base branch from origin, else from the checkout', async () => {
    using s = scratch()
    git(s.root, 'checkout', '-qb', 'feature')
    await s.run('create-loop', 'a', '--from-template', 'backlog')
    expect(JSON.parse(readFileSync(s.places('a').config, 'utf8')).blast_radius.base_branch).toBe('feature')
    git(s.root, 'update-ref', 'refs/remotes/origin/main', 'main')
    git(s.root, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main')
    await s.run('create-loop', 'b', '--from-template', 'backlog')
    expect(JSON.parse(readFileSync(s.places('b').config, 'utf8')).blast_radius.base_branch).toBe('main')
    git(s.root, 'symbolic-ref', '--delete', 'refs/remotes/origin/HEAD')
    git(s.root, 'checkout', '-q', '--detach')
    expect((await s.run('create-loop', 'c', '--from-template', 'backlog')).stderr).toContain('no base branch')
    expect((await s.run('create-loop', 'c', '--from-template', 'backlog', '--base', 'main')).code).toBe(0)
  })

  test('pins two models when models.json has two, so that a fresh loop does not halt', async () => {
    using s = scratch()
    const models = { default: 'big', models: ['big', 'small'] }
    writeFileSync(join(s.home, '.automaton', 'models.json'), JSON.stringify(models))
    await s.run('create-loop', 'x', '--from-template', 'backlog')
    const { roles } = JSON.parse(readFileSync(s.places('x').config, 'utf8'))
    expect([roles.implement.model, roles.verify.model]).toEqual(['big', 'small'])
  })
})

describe('pause-loop and resume-loop', () => {
  test('go there and back, and each refuses the wrong status with 3', async () => {
    using s = await withLoop()
    expect((await s.run('resume-loop', 'nightly')).code).toBe(3)
    expect((await s.run('pause-loop', 'nightly')).stdout).toContain('nightly is paused')
    expect(s.state('nightly').status).toBe('paused')
    const again = await s.run('pause-loop', 'nightly')
    expect(again.code).toBe(3)
    expect(again.stderr).toContain('automaton resume-loop nightly')
    expect((await s.run('resume-loop', 'nightly')).code).toBe(0)
    expect(s.state('nightly').status).toBe('running')
  })

  test('never touch a halt', async () => {
    using s = await withLoop()
    halt(s, 'nightly', { reason: 'verifier_failed' })
    for (const verb of ['pause-loop', 'resume-loop']) expect((await s.run(verb, 'nightly')).code).toBe(3)
    expect(s.state('nightly').status).toBe('halted')
  })

  test('while a tick runs, pause leaves a request, resume takes it back, other writers get busy', async () => {
    using s = await withLoop()
    await makeTask(s, 't')
    const lock = await acquire(s.places('nightly').lock, { waitMs: 0 })
    if (lock.busy) throw new Error('busy')
    using _held = lock
    using _tick = pretendTick(s, 'nightly')
    const paused = await s.run('pause-loop', 'nightly', '--json')
    expect(paused.json()).toMatchObject({ loop: 'nightly', status: 'running', requested: true })
    expect(existsSync(s.places('nightly').pauseRequest)).toBe(true)
    expect((await s.run('status', 'nightly')).stdout).toContain('it pauses after this tick')
    const resumed = await s.run('resume-loop', 'nightly', '--json')
    expect(resumed.json()).toMatchObject({ withdrawn: true })
    expect(existsSync(s.places('nightly').pauseRequest)).toBe(false)
    const claim = await s.run('claim-loop-task', 'nightly', '--task', 't')
    expect(claim.code).toBe(3)
    expect(claim.stderr).toContain('loop is busy (nightly)')
    const gate = await s.run('check-gate', 'nightly')
    expect(gate.json()).toMatchObject({ running: true })
  }, 20_000)

  test('an unknown loop is named with those that there are', async () => {
    using s = await withLoop()
    const call = await s.run('pause-loop', 'nightlt')
    expect(call.code).toBe(2)
    expect(call.stderr).toContain('this project has nightly')
  })
})

describe('repair', () => {
  test('leaves a sound loop alone', async () => {
    using s = await withLoop()
    expect((await s.run('repair', 'nightly', '--json')).json()).toMatchObject({ repaired: false })
    expect(s.state('nightly').status).toBe('running')
  })

  test('rebuilds a damaged state as halted, and the halt can be approved', async () => {
    using s = await withLoop()
    writeFileSync(s.places('nightly').state, '{')
    expect((await s.run('status')).stdout).toContain('automaton repair nightly')
    expect((await s.run('pause-loop', 'nightly')).code).toBe(5)
    const report = (await s.run('repair', 'nightly', '--json')).json()
    expect(report).toMatchObject({ repaired: true, status: 'halted' })
    const approved = await s.run('approve', '--loop', 'nightly', '--halt', String(report.halt))
    expect(approved.code).toBe(0)
    expect(s.state('nightly').status).toBe('running')
  })

  test('a state without its log is tampering, and the way out is repair', async () => {
    using s = await withLoop()
    rmSync(s.places('nightly').log)
    const call = await s.run('pause-loop', 'nightly')
    expect(call.code).toBe(6)
    expect(call.stderr).toContain('automaton repair nightly')
    expect((await s.run('status', 'nightly', '--json')).json().next).toEqual(['automaton repair nightly'])
    expect((await s.run('repair', 'nightly')).code).toBe(0)
    expect(s.state('nightly').status).toBe('halted')
    expect((await s.run('status', 'nightly')).stdout).toContain('its state was rebuilt by "automaton repair"')
  })

  test('a log with a changed line leads to repair, a state of a newer automaton does not', async () => {
    using s = await withLoop()
    const { log, state } = s.places('nightly')
    const next = async () => (await s.run('status', 'nightly', '--json')).json().next
    const text = readFileSync(log, 'utf8')
    writeFileSync(log, text.replace('human', 'robot'))
    expect(await next()).toEqual(['automaton repair nightly'])
    writeFileSync(log, text)
    writeFileSync(state, readFileSync(state, 'utf8').replace('"schema_version": 1', '"schema_version": 9'))
    expect(await next()).toEqual(['update automaton'])
  })
})

describe('sync', () => {
  test('starts the branch again from the base and keeps the old tip', async () => {
    using s = await withLoop()
    git(s.root, 'branch', 'automaton/nightly')
    git(s.root, 'checkout', '-q', 'automaton/nightly')
    git(s.root, 'commit', '-q', '--allow-empty', '-m', 'work')
    const tip = git(s.root, 'rev-parse', 'HEAD')
    git(s.root, 'checkout', '-q', 'main')
    const report = (await s.run('sync', 'nightly', '--json')).json()
    expect(report).toMatchObject({ branch: 'automaton/nightly', base_branch: 'main' })
    expect(git(s.root, 'rev-parse', String(report.kept))).toBe(tip)
    expect(s.state('nightly').base_sha).toBeNull()
  })

  test('says that a task keeps its phase when its work is dropped, and how to send it back', async () => {
    using s = await withLoop()
    await makeTask(s, 't')
    await s.run('claim-loop-task', 'nightly', '--task', 't')
    writeFileSync(join(s.project.tasks, 't', 'IMPLEMENTATION.md'), 'done')
    expect((await s.run('transition', 't', 'code_review')).code).toBe(0)
    git(s.root, 'checkout', '-q', '-b', 'automaton/nightly')
    git(s.root, 'commit', '-q', '--allow-empty', '-m', 'work')
    git(s.root, 'checkout', '-q', 'main')
    const said = (await s.run('sync', 'nightly')).stdout.replace(/\s+/g, ' ')
    expect(said).toContain('t stays in code_review. If its work was dropped, send it back')
    const commands = [...said.matchAll(/automaton (transition|approve) .*?(?= automaton )/g)]
    expect(commands.map(([command]) => command)).toEqual([
      'automaton transition t human_intervention --reason "its work was dropped"',
      'automaton approve --task t --to implement',
    ])
    expect((await s.run('transition', 't', 'human_intervention', '--reason', 'dropped')).code).toBe(0)
    expect((await s.run('approve', '--task', 't', '--to', 'implement')).code).toBe(0)
  })
})
