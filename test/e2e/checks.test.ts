import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { goodAgent, makeProject, must, type TestProject } from '../helpers/project.ts'

const sh = (script: string) => ['sh', '-c', script]
const files = {
  'README.md': '# test\n',
  'src/work.txt': 'start\n',
  'src/score.txt': '10\n',
  'test/check.sh': 'grep -q done src/work.txt\n',
}
const keeps = { roles: { orchestrate: { mode: 'rules' } } }

/** What the last tick's verdict was. */
const verdict = (p: TestProject) => p.state().last_verdict

describe('the verifier command', () => {
  test('checks with the base commit’s version of what it protects, and leaves the session’s work alone', async () => {
    const rig =
      'echo "exit 0" > test/check.sh; echo "exit 0" > test/extra.sh; echo x >> src/work.txt; echo did > "$AUTOMATON_OUTPUT"'
    const commands = [sh('test ! -e test/extra.sh'), ['sh', 'test/check.sh']]
    using p = await makeProject({ files, scenario: { implement: rig }, loop: keeps })
    p.configure({ verifiers: [{ use: 'command', options: { commands, protect: ['test/**'] } }] })
    await must(p.tick())
    expect(verdict(p)).toMatchObject({ pass: false, score: 0 })
    expect(verdict(p).reasons[0]).toMatch(/^`sh test\/check\.sh` exited with 1 after \d+\.\d s$/)
    expect(readFileSync(join(p.worktree, 'test/check.sh'), 'utf8')).toBe('exit 0\n')
    expect(existsSync(join(p.worktree, 'test/extra.sh'))).toBe(true)
    expect(p.git('status', '--porcelain')).toBe('?? .automaton/')
    expect(JSON.stringify(p.log().at(-1).data.warnings)).not.toContain('put back')

    // Without protection the rigged check passes.
    p.configure({ verifiers: [{ use: 'command', options: { commands: ['sh', 'test/check.sh'] } }] })
    await must(p.tick())
    expect(verdict(p)).toMatchObject({ pass: true, score: 1 })
    expect(verdict(p).reasons[0]).toMatch(/^`sh test\/check\.sh` passed in \d+\.\d s$/)
  })

  test('takes protected files from the base commit without being told, where a scope lets them be changed', async () => {
    const implement = 'echo "x=2" > .npmrc; echo done >> src/work.txt; echo did > "$AUTOMATON_OUTPUT"'
    using p = await makeProject({
      files: { ...files, '.npmrc': 'x=1\n' },
      scenario: { implement },
      loop: { ...keeps, blast_radius: { file_scope: ['src', '.npmrc'] } },
    })
    p.configure({ verifiers: [{ use: 'command', options: { commands: sh('grep -q x=1 .npmrc') } }] })
    await must(p.tick())
    expect(verdict(p)).toMatchObject({ pass: true })
    expect(readFileSync(join(p.worktree, '.npmrc'), 'utf8')).toBe('x=2\n')
  })

  test('what the program changed is put back, and said', async () => {
    using p = await makeProject({ files, loop: keeps })
    p.configure({ verifiers: [{ use: 'command', options: { commands: sh('echo junk > src/junk.txt') } }] })
    await must(p.tick())
    expect(existsSync(join(p.worktree, 'src/junk.txt'))).toBe(false)
    expect(JSON.stringify(p.log().at(-1).data.warnings)).toContain('put back')
  })

  test('the tail of the output is the hint of the next session', async () => {
    const implement = `printf '%s' "$(cat "$1")" >/dev/null; ${goodAgent.implement}`
    using p = await makeProject({ files, scenario: { implement }, loop: keeps })
    p.configure({
      verifiers: [{ use: 'command', options: { commands: sh('echo expected 3, got 4; exit 1') } }],
    })
    await must(p.tick())
    await must(p.tick())
    const prompt = readFileSync(join(p.loopDir, 'outputs/tick2-implement-prompt.md'), 'utf8')
    expect(prompt).toContain('expected 3, got 4')
  })

  test('files from the base commit need a worktree, and say so', async () => {
    using p = await makeProject({ files, createArgs: ['--no-worktree'], loop: keeps })
    p.configure({ verifiers: [{ use: 'command', options: { commands: ['true'], protect: ['test'] } }] })
    const call = await p.tick()
    expect(call.code).toBe(2)
    expect(call.stderr).toContain('none without a worktree')
  })
})

describe('several verifiers', () => {
  test('all have to pass, and the lowest score counts', async () => {
    using p = await makeProject({ files, loop: keeps })
    const metric = {
      command: ['cat', 'src/score.txt'],
      direction: 'up',
      target: 20,
      from: 0,
      pass: 'improvement',
    }
    p.configure({ verifiers: [{ use: 'metric', options: metric }, { use: 'session' }] })
    await must(p.tick())
    expect(verdict(p)).toMatchObject({ pass: true, score: 0.5 })
    p.script({ verify: `echo '{"pass": false, "score": 0.2, "reasons": ["no"], "next_hint": ""}'` })
    p.script({ implement: `echo 15 > src/score.txt; ${goodAgent.implement}` })
    await must(p.tick())
    expect(verdict(p)).toMatchObject({ pass: false, score: 0.2 })
  })

  test('a free one that fails saves the session', async () => {
    using p = await makeProject({ files, loop: keeps })
    const metric = { command: ['cat', 'src/score.txt'], direction: 'up', target: 20, from: 0 }
    p.configure({ verifiers: [{ use: 'metric', options: metric }, { use: 'session' }] })
    await must(p.tick())
    expect(verdict(p)).toMatchObject({ pass: false, score: 0.5 })
    expect(existsSync(join(p.scenarioDir, '.ran-verify-1'))).toBe(false)
  })
})

test('options that a verifier does not take refuse the tick, before any session is paid for', async () => {
  using p = await makeProject({ files, loop: keeps })
  p.configure({ verifiers: [{ use: 'session' }, { use: 'command', options: { command: ['true'] } }] })
  const tick = await p.tick('--json')
  expect(tick.code).toBe(5)
  expect(tick.json()).toMatchObject({
    gate: {
      reason: 'refused:config',
      detail: 'plugin "command" failed in options: options.commands is missing',
    },
  })
  expect(existsSync(join(p.scenarioDir, '.ran-implement-1'))).toBe(false)
  p.configure({ verifiers: [{ use: 'session' }], work_source: { kind: 'ci', options: { commands: 5 } } })
  expect((await p.tick()).stdout).toContain('refused:config')
})

describe('the verifier metric', () => {
  const options = { command: ['cat', 'src/score.txt'], direction: 'up', target: 50 }
  const sets = (value: number) => `echo ${value} > src/score.txt; echo did > "$AUTOMATON_OUTPUT"`
  const withMetric = (more: object = {}) => ({
    files,
    loop: {
      ...keeps,
      brakes: { score_plateau_window: 0 },
      verifiers: [{ use: 'metric', options: { ...options, ...more } }],
    },
  })

  test('measures the base commit once, scores the way to the target, and passes there', async () => {
    using p = await makeProject({ ...withMetric(), scenario: { implement: sets(30) } })
    await must(p.tick())
    expect(verdict(p)).toMatchObject({
      pass: false,
      score: 0.5,
      reasons: ['`cat src/score.txt` measured 30; best so far 10, target 50'],
      next_hint: '`cat src/score.txt` measured 30; best so far 10, target 50. It has to go up.',
    })
    const memory = JSON.parse(readFileSync(join(p.loopDir, 'memory.json'), 'utf8'))
    expect(Object.values(memory.verifiers)).toEqual([{ start: 10 }])
    p.script({ implement: sets(50) })
    await must(p.tick())
    expect(verdict(p)).toMatchObject({ pass: true, score: 1 })
  })

  test('on improvement, has to be better than every tick that passed, and than no other', async () => {
    using p = await makeProject(withMetric({ pass: 'improvement' }))
    p.configure({
      roles: { orchestrate: { mode: 'session', prompt: 'loop-orchestrate.md', tier: 16_000 } },
      verifiers: [{ use: 'metric', options: { ...options, pass: 'improvement' } }, { use: 'session' }],
    })
    const results: [value: number, pass: boolean][] = []
    const work = async (value: number, judge = goodAgent.verify ?? '') => {
      const implement = `echo x >> src/work.txt; ${sets(value)}`
      p.script({ implement, verify: judge, orchestrate: 'automaton hold' })
      await must(p.tick())
      results.push([value, verdict(p).pass])
    }
    await work(20)
    await work(20)
    await work(30, `echo '{"pass": false, "score": 0.9, "reasons": ["ugly"], "next_hint": ""}'`)
    await work(25)
    await work(24)
    // 30 did not pass the other verifier, so it is nothing that 25 has to be better than.
    expect(results).toEqual([
      [20, true],
      [20, false],
      [30, false],
      [25, true],
      [24, false],
    ])
  })

  test('what a session writes into the memory is tampering', async () => {
    const implement = `echo '{}' > ../memory.json; ${sets(30)}`
    using p = await makeProject({ ...withMetric(), scenario: { implement } })
    expect((await p.tick()).code).toBe(6)
    expect(p.state().halt).toMatchObject({ reason: 'drift_detected', detail: 'tamper:memory.json' })
  })
})
