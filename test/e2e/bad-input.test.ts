import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { automaton } from '../helpers/cli.ts'
import { makeProject, type TestProject } from '../helpers/project.ts'
import { git, makeRepo } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

/** One clear error on stderr: what (where): why, then one fix; no stack, no raw `fatal:`. */
function expectError(stderr: string, pattern: RegExp) {
  const lines = stderr.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toStartWith('automaton: ')
  expect(lines[0]).toMatch(pattern)
  expect(lines[1]).toStartWith('  fix: ')
}

function stateText(p: TestProject): string {
  return readFileSync(join(p.loopDir, '.state.loop'), 'utf8')
}

describe('every field of loop.json wrong in turn is one error that names it, and nothing changes', () => {
  const cases: [path: string[], value: unknown][] = [
    [['schema_version'], 2],
    [['name'], 'Bad Name'],
    [['description'], 7],
    [['work_source', 'kind'], 5],
    [['work_source', 'phases'], ['sleep']],
    [['work_source', 'project'], '/elsewhere'],
    [['acceptance_criteria'], 3],
    [['roles', 'implement', 'tier'], 100],
    [['roles', 'verify', 'prompt'], 1],
    [['roles', 'orchestrate', 'mode'], 'guess'],
    [['roles', 'allow_same_model'], 'yes'],
    [['verifiers'], 'session'],
    [['brakes', 'max_iterations'], 0],
    [['brakes', 'max_iterations'], true],
    [['brakes', 'max_iteration'], 5],
    [['brakes', 'max_budget_usd'], -1],
    [['brakes', 'unknown_cost'], 'free'],
    [['brakes', 'score_epsilon'], -0.1],
    [['blast_radius', 'worktree'], 'yes'],
    [['blast_radius', 'file_scope'], ['../elsewhere']],
    [['blast_radius', 'sandbox'], 'maybe'],
    [['blast_radius', 'sandboxx'], 'off'],
    [['outputs', 'retention'], 'all'],
    [['schedule', 'kind'], 'hourly'],
    [['schedule', 'interval_seconds'], 0],
    [['harness', 'command'], []],
    [['harness', 'timeout_seconds'], -5],
    [['harness', 'env'], [1]],
  ]
  test('with exit 2', async () => {
    using p = await makeProject()
    const file = join(p.loopDir, 'loop.json')
    const good = readFileSync(file, 'utf8')
    const before = stateText(p)
    for (const [path, value] of cases) {
      const config = JSON.parse(good)
      let place = config
      for (const key of path.slice(0, -1)) place = place[key]
      place[path.at(-1) ?? ''] = value
      writeFileSync(file, JSON.stringify(config))
      const call = await p.tick()
      const shown = `${path.join('.')} = ${JSON.stringify(value)}: ${call.stderr}${call.stdout}`
      expect(call.code, shown).toBe(2)
      expect(`${call.stderr}${call.stdout}`, shown).toContain(path.at(-1) ?? '')
      expect(stateText(p)).toBe(before)
    }
  }, 30_000)
})

describe('a state that cannot be read is refused with the way out, and kept', () => {
  for (const [name, text] of [
    ['empty', ''],
    ['truncated', '{"schema_version": 1, "name": "nigh'],
    ['not JSON', 'hello'],
    ['of a later version', '{"schema_version": 9}'],
  ] as const) {
    test(name, async () => {
      using p = await makeProject()
      writeFileSync(join(p.loopDir, '.state.loop'), text)
      const call = await p.tick()
      expect(call.code).toBe(5)
      expectError(call.stderr, /state/)
      expect(stateText(p)).toBe(text)
    })
  }

  test('repair brings it back from the log, halted, with its counts', async () => {
    using p = await makeProject()
    await p.tick()
    writeFileSync(join(p.loopDir, '.state.loop'), '')
    expect((await p.call(['repair', p.loop])).code).toBe(0)
    expect(p.state()).toMatchObject({ status: 'halted', iteration_count: 1 })
    expect((await p.tick()).code).toBe(3)
    expect((await p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id])).code).toBe(0)
    expect((await p.tick()).code).toBe(0)
  })
})

describe('what is around the loop', () => {
  test('not a git repository', async () => {
    using dir = tempDir()
    mkdirSync(join(dir.path, 'plain'))
    const call = await automaton(['create-loop', 'x', '--from-template', 'backlog', '--project', '.'], {
      cwd: join(dir.path, 'plain'),
    })
    expect(call.code).toBe(5)
    expectError(call.stderr, /not a git repository/)
  })

  test('no project at all', async () => {
    using dir = tempDir()
    mkdirSync(join(dir.path, 'plain'))
    const call = await automaton(['tick', 'x'], { cwd: join(dir.path, 'plain') })
    expect(call.code).toBe(2)
    expectError(call.stderr, /not in a project/)
  })

  test('an unborn branch', async () => {
    using dir = tempDir()
    const root = join(dir.path, 'repo')
    mkdirSync(root)
    git(root, 'init', '-q')
    const call = await automaton(['create-loop', 'x', '--from-template', 'backlog'], { cwd: root })
    expect(call.code).toBe(5)
    expectError(call.stderr, /no commit yet/)
  })

  test('a base branch that went away is refused, and never "no drift"', async () => {
    using p = await makeProject()
    p.git('branch', '-m', 'main', 'trunk')
    const gate = await p.call(['check-gate', p.loop])
    expect(gate.json()).toMatchObject({ ok: false, reason: 'refused:no_base_branch', halt_reason: null })
    expect((await p.tick()).code).toBe(5)
    p.git('branch', '-m', 'trunk', 'main')
    expect((await p.tick()).code).toBe(0)
  })

  test('a missing harness is refused, and installing it is enough', async () => {
    using p = await makeProject({ loop: { harness: { command: ['no-such-agent'] } } })
    const gate = await p.call(['check-gate', p.loop])
    expect(gate.json()).toMatchObject({ reason: 'refused:harness' })
    const call = await p.tick()
    expect(call.code).toBe(5)
    expect(call.stdout + call.stderr).toContain('no-such-agent')
    expect(p.state().iteration_count).toBe(0)
  })

  test('a context window below the floor is refused, and nothing is written', async () => {
    using p = await makeProject({
      loop: { roles: { verify: { prompt: 'loop-verifier.md', tier: 8000, model: null } } },
    })
    const before = stateText(p)
    const gate = await p.call(['check-gate', p.loop])
    expect(gate.code).toBe(3)
    expect(gate.json()).toMatchObject({ reason: 'refused:context_floor', halt_reason: null })
    expect(gate.stdout).toContain('context window below 16k floor')
    expect(stateText(p)).toBe(before)
  })
})

describe('what a person types wrong', () => {
  const wrong: [args: string[], code: number, pattern: RegExp][] = [
    [['create-loop', 'nightly', '--from-template', 'backlog'], 2, /exists/],
    [['create-loop', 'other', '--from-template', 'nothing'], 2, /template not found.*backlog/],
    [['create-loop', 'Bad_Name', '--from-template', 'backlog'], 2, /bad loop name/],
    [['create-loop', 'con', '--from-template', 'backlog'], 2, /bad loop name/],
    [['create-task', '../x', '--brief', '-'], 2, /bad task name/],
    [['create-task', 'fix-it', '--brief', '-'], 2, /exists|empty/],
    [['tick', 'nope'], 2, /loop not found.*nightly/],
    [['task', 'nope'], 2, /task not found/],
    [['transition', 'fix-it', 'complete'], 3, /transition refused/],
    [['resume-loop', 'nightly'], 3, /running/],
    [['approve', '--loop', 'nightly'], 3, /running/],
    [['frobnicate'], 2, /frobnicate/],
    [['tikc', 'nightly'], 2, /tikc/],
    [['tick', 'nightly', '--schedule'], 2, /--schedule/],
  ]
  test('is one error with a fix, and the state stays as it is', async () => {
    using p = await makeProject()
    const before = stateText(p)
    for (const [args, code, pattern] of wrong) {
      const call = await p.call(args)
      expect(call.code, `${args.join(' ')}: ${call.stderr}`).toBe(code)
      expectError(call.stderr, pattern)
      expect(call.stdout).toBe('')
    }
    expect(stateText(p)).toBe(before)
  }, 30_000)

  test('an unknown command or option suggests the nearest name', async () => {
    using p = await makeProject()
    expect((await p.call(['tikc', 'nightly'])).stderr).toContain('tick')
    expect((await p.call(['tick', 'nightly', '--schedule'])).stderr).toContain('--scheduled')
  })

  test.each<[args: string[], meant: RegExp, fix: string]>([
    [['tick', 'nigthly'], /did you mean "nightly"\? this project has nightly$/, 'automaton status nightly'],
    [['pause-loop', 'nightl'], /did you mean "nightly"\?/, 'automaton status nightly'],
    [
      ['transition', 'fix-it', 'code_reveiw'],
      /did you mean "code_review"\? there are/,
      'automaton task fix-it',
    ],
    [['hook', 'gemni'], /automaton knows those of claude, gemini/, 'automaton hook gemini'],
    [['task', 'fixit'], /did you mean "fix-it"\?/, 'automaton task fix-it'],
    [
      ['create-loop', 'x', '--from-template', 'back-log'],
      /did you mean "backlog"\?/,
      'write --from-template backlog',
    ],
    [
      ['create-loop', 'x', '--from-template', 'backlog', '--harness', 'claud'],
      /did you mean "claude"\?/,
      'write --harness claude',
    ],
  ])('%j names what was meant', async (args, meant, fix) => {
    using p = await makeProject()
    const [why = '', todo = ''] = (await p.call(args)).stderr.split('\n')
    expect(why).toMatch(meant)
    expect(todo).toBe(`  fix: ${fix}`)
  })

  test('with --json the error is one object on stderr', async () => {
    using p = await makeProject()
    const call = await p.call(['tick', 'nope', '--json'])
    expect(call.stdout).toBe('')
    expect(JSON.parse(call.stderr)).toMatchObject({ schema: 1, type: 'error', code: 'no_loop', exit: 2 })
  })
})

test('the primary checkout may be dirty or detached: automaton leaves it alone', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'repo'))
  git(root, 'checkout', '-q', '--detach')
  const call = await automaton(['create-loop', 'x', '--from-template', 'backlog', '--base', 'main'], {
    cwd: root,
  })
  expect(call.code).toBe(0)
})
