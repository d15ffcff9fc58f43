import { describe, expect, test } from 'bun:test'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commit } from '../../src/store/journal.ts'
import { binary, callEnv } from '../helpers/cli.ts'
import { git, writeFiles } from '../helpers/repo.ts'
import { halt, makeTask, scratch, withLoop } from './fixture.ts'

describe('status and loop-list', () => {
  test('a halted loop shows why, which files, and the exact command', async () => {
    using s = await withLoop()
    const id = halt(s, 'nightly', {
      reason: 'drift_detected',
      detail: '1 out of scope',
      files: ['a\u001b]0;x\u0007'],
    })
    const text = (await s.run('status', 'nightly')).stdout
    expect(text).toContain('halted: drift_detected')
    expect(text).toContain('a\\x1b]0;x\\x07')
    expect(text).toContain(`automaton approve --loop nightly --halt ${id} --discard`)
    const list = (await s.run('loop-list')).stdout
    expect(list).toContain('halted: drift_detected (1 file out of scope)')
  })

  test('say nothing false of a project without loops', async () => {
    using s = scratch()
    expect((await s.run('status')).stdout).toContain('no loops yet')
    expect((await s.run('loops', '--json')).json().loops).toEqual([])
  })

  test('fit 60 and 80 columns', async () => {
    using s = await withLoop('a-loop-with-quite-a-long-name-for-a-loop')
    await makeTask(s, 'a-task-with-a-name-that-goes-on-and-on-for-ever')
    await s.run(
      'claim-loop-task',
      'a-loop-with-quite-a-long-name-for-a-loop',
      '--task',
      'a-task-with-a-name-that-goes-on-and-on-for-ever',
    )
    for (const columns of [60, 80]) {
      for (const verb of ['loop-list', 'task-list', 'status', 'doctor', 'plugins']) {
        const { stdout } = await s.call([verb], { env: { COLUMNS: String(columns) } })
        // Commands are never broken, so that they can be copied.
        const lines = stdout.split('\n').filter((line) => !/^\s*(next )?\s*automaton /.test(line))
        for (const line of lines)
          expect(`${verb}: ${line}`.length - verb.length - 2).toBeLessThanOrEqual(columns)
      }
    }
  })

  test('a broken loop.json is said, with its fix, and hides nothing else', async () => {
    using s = await withLoop()
    writeFileSync(s.places('nightly').config, '{"name":"nightly"')
    const call = await s.run('status')
    expect(call.code).toBe(0)
    expect(call.stdout).toContain('not JSON')
    expect(call.stdout).toContain('nightly  running, but nothing ticks: loop.json cannot be read\n')
    expect(call.stdout).not.toMatch(/everything but|when you say so/)
    const { loops } = (await s.run('status', '--json')).json() as { loops: object[] }
    expect(loops[0]).toMatchObject({ containment: null, max_iterations: null })
  })

  test('the merge is offered until the base branch has the work, by whatever way', async () => {
    using s = await withLoop()
    await makeTask(s, 'fix-it')
    const base = git(s.root, 'rev-parse', 'main')
    git(s.root, 'checkout', '-q', '-b', 'automaton/nightly')
    writeFiles(s.root, { 'new.txt': 'new\n' })
    git(s.root, 'add', 'new.txt')
    git(s.root, 'commit', '-qm', 'work')
    const verified = git(s.root, 'rev-parse', 'HEAD')
    git(s.root, 'checkout', '-q', 'main')
    const state = s.state('nightly')
    const done = { ...state, last_task: 'fix-it', base_sha: base, verified_sha: verified }
    const at = state.updated_at
    commit(s.places('nightly'), state, done, { type: 'tick', run: null, by: 'test', at, data: {} })
    expect((await s.run('status')).stdout).toContain('next  git merge automaton/nightly')
    git(s.root, 'merge', '-q', '--squash', 'automaton/nightly')
    git(s.root, 'commit', '-qm', 'all of it')
    const after = (await s.run('status')).stdout
    expect(after).toContain('next  automaton tick nightly')
    expect(after).not.toContain('git merge')
  })
})

describe('log', () => {
  test('tells the history, and --tick the files of one tick', async () => {
    using s = await withLoop()
    await s.run('pause-loop', 'nightly')
    const { records } = (await s.run('log', 'nightly', '--json')).json() as { records: { type: string }[] }
    expect(records.map((record) => record.type)).toEqual(['created', 'pause'])
    writeFiles(s.places('nightly').outputs, {
      'tick1-implement.md': 'made\u001b[1m it',
      'tick10-implement.md': 'no',
    })
    const tick = await s.run('log', 'nightly', '--tick', '1')
    expect(tick.stdout).toContain('made\\x1b[1m it')
    expect(tick.stdout).not.toContain('tick10')
    const none = await s.run('log', 'nightly', '--tick', '7')
    expect(none.code).toBe(2)
    expect(none.stderr).toContain('no such tick (7 of nightly)')
  })

  test('--follow shows what is added and ends in order when it is told to', async () => {
    using s = await withLoop()
    const child = Bun.spawn([binary, 'log', 'nightly', '--follow'], {
      cwd: s.root,
      env: callEnv({ cwd: s.root, home: s.home }),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const reader = child.stdout.getReader()
    let seen = ''
    const until = async (word: string) => {
      while (!seen.includes(word)) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`it ended with ${seen}`)
        seen += new TextDecoder().decode(value)
      }
    }
    await until('created')
    await s.run('pause-loop', 'nightly')
    await until('pause')
    child.kill('SIGTERM')
    expect(await child.exited).toBe(143)
  })
})

describe('can-continue and check-gate', () => {
  test('answer JSON with every key of the contract', async () => {
    using s = await withLoop()
    expect((await s.run('can-continue', 'nightly')).json()).toEqual({
      schema: 1,
      loop: 'nightly',
      state: 'OK',
      reason: 'ok',
      halt_reason: null,
    })
    const gate = await s.call(['check-gate', 'nightly'], { env: { PATH: '/usr/bin:/bin' } })
    expect(gate.code).toBe(5)
    expect(gate.json()).toMatchObject({
      ok: false,
      reason: 'refused:harness',
      halt_reason: null,
      remaining_iterations: 20,
      remaining_budget_usd: null,
      task_phase: null,
      task_in_halt_loop: false,
      out_of_scope_files: [],
      running: false,
    })
    expect(s.state('nightly')).toMatchObject({ status: 'running', seq: 1 })
  })

  test('a stored halt is reported with 3, and a paused loop too', async () => {
    using s = await withLoop()
    halt(s, 'nightly', { reason: 'budget_exhausted', detail: 'spent' })
    const gate = await s.run('check-gate', 'nightly')
    expect(gate.code).toBe(3)
    expect(gate.json()).toMatchObject({ reason: 'halted:budget_exhausted', halt_reason: 'budget_exhausted' })
    const stored = await s.run('can-continue', 'nightly')
    expect(stored.json()).toMatchObject({ state: 'HALTED', reason: 'halted:budget_exhausted' })
    expect(stored.code).toBe(0)
  })
})

describe('can-edit', () => {
  test('in the project: everything but the protected set', async () => {
    using s = scratch()
    const rows: [path: string, code: number][] = [
      ['src/a.ts', 0],
      ['.env', 3],
      ['.ENV.local', 3],
      ['sub/.git/config', 3],
      ['.automaton/config.json', 3],
      ['../out.txt', 3],
      ['/etc/passwd', 3],
      ['a/../../x', 3],
    ]
    for (const [path, code] of rows) {
      const call = await s.run('can-edit', path)
      expect(`${path} ${call.code}`).toBe(`${path} ${code}`)
      expect(call.stdout.split('\n')).toHaveLength(2)
    }
  })

  test('through a link it is judged by where the write would go', async () => {
    using s = scratch()
    symlinkSync('/etc', join(s.root, 'etc'))
    symlinkSync('/nowhere/at/all', join(s.root, 'dangling'))
    expect((await s.run('can-edit', 'etc/passwd')).code).toBe(3)
    expect((await s.run('can-edit', 'dangling')).code).toBe(3)
  })

  test('with a loop: in its worktree and scope only', async () => {
    using s = await withLoop('nightly', '--scope', 'src/')
    const { worktree } = s.places('nightly')
    mkdirSync(join(worktree, 'src'), { recursive: true })
    const ask = (path: string) => s.run('can-edit', path, '--loop-worktree', 'nightly')
    expect((await ask(join(worktree, 'src/a.ts'))).code).toBe(0)
    expect((await ask(join(worktree, 'README.md'))).code).toBe(3)
    expect((await ask(join(worktree, 'src/.env'))).code).toBe(3)
    expect((await ask('src/a.ts')).code).toBe(3)
  })

  test('inside a tick: the loop is known, and the session’s own output is allowed', async () => {
    using s = await withLoop('nightly', '--scope', 'src/')
    const { worktree } = s.places('nightly')
    const output = join(worktree, '.automaton-run', 'artifact.md')
    mkdirSync(join(worktree, '.automaton-run'), { recursive: true })
    const env = { AUTOMATON_IN_TICK: 'nightly', AUTOMATON_ROLE: 'implement', AUTOMATON_OUTPUT: output }
    const ask = (path: string) => s.call(['can-edit', path], { cwd: worktree, env })
    expect((await ask('src/a.ts')).code).toBe(0)
    expect((await ask(output)).code).toBe(0)
    expect((await ask(join(worktree, '.automaton-run', 'other'))).code).toBe(0 + 3)
    expect((await ask('README.md')).code).toBe(3)
  })

  test('with a task: only implement changes files, in the task’s scope; its artifact always', async () => {
    using s = scratch()
    await makeTask(s, 't', '--scope', 'src/')
    expect((await s.run('can-edit', 'src/a.ts', '--task', 't')).code).toBe(0)
    expect((await s.run('can-edit', 'docs/a.md', '--task', 't')).code).toBe(3)
    expect((await s.run('can-edit', '.automaton/tasks/t/IMPLEMENTATION.md', '--task', 't')).code).toBe(0)
    expect((await s.run('can-edit', '.automaton/tasks/t/.state', '--task', 't')).code).toBe(3)
  })
})

describe('scope-check', () => {
  test('names what lies outside of the task’s scope, exit 3', async () => {
    using s = scratch({ 'src/a.ts': '1\n', 'docs/a.md': '1\n' })
    await makeTask(s, 't', '--scope', 'src/')
    writeFileSync(join(s.root, 'src/a.ts'), '2\n')
    expect((await s.run('scope-check', 't', '--json')).json()).toMatchObject({
      changed: ['src/a.ts'],
      outside: [],
    })
    writeFileSync(join(s.root, 'docs/a.md'), '2\n')
    const call = await s.run('scope-check', 't', '--json')
    expect(call.code).toBe(3)
    expect(call.json()).toMatchObject({ loop: null, outside: ['docs/a.md'] })
  })
})

describe('audit', () => {
  test('finds what is wrong, in the same order on every run; --strict exits 3', async () => {
    using s = scratch({
      'src/lonely.ts': '1\n',
      'src/named.ts': '1\n',
      'test/named.test.ts': "import '../src/named.ts'\n",
      'node_modules/x/index.js': '1\n',
      'design/loops.md': 'see `src/gone.ts` and `src/named.ts`\n',
    })
    mkdirSync(join(s.project.tasks, 'stray'), { recursive: true })
    const call = await s.run('audit', '--json')
    expect(call.code).toBe(0)
    const { violations } = call.json() as { violations: { rule: string; path: string }[] }
    const found = violations.map(({ rule, path }) => `${rule} ${path}`)
    expect(found[0]).toBe('untracked-task .automaton/tasks/stray')
    expect(found.sort()).toEqual([
      'design-names-missing-file design/loops.md',
      'untested-source src/lonely.ts',
      'untracked-task .automaton/tasks/stray',
    ])
    expect((await s.run('audit', '--json')).stdout).toBe(call.stdout)
    expect((await s.run('audit', '--strict')).code).toBe(3)
  })

  test('a clean project has nothing, --strict exits 0', async () => {
    using s = scratch()
    expect((await s.run('audit', '--strict')).stdout).toBe('nothing is wrong\n')
  })
})

describe('schema', () => {
  test('prints the JSON Schema of loop.json, and says which there are', async () => {
    using s = scratch()
    const schema = JSON.parse((await s.run('schema', 'loop')).stdout)
    expect(Object.keys(schema.properties)).toContain('brakes')
    expect((await s.run('schema', 'task')).stderr).toContain('there is loop')
  })
})
