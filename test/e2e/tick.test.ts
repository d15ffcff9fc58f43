import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { goodAgent, makeProject, must } from '../helpers/project.ts'

const failing = `echo '{"pass": false, "score": 0.3, "reasons": ["not yet"], "next_hint": "try harder"}'`

describe('a tick that passes', () => {
  test('moves the task to code_review and leaves the loop running', async () => {
    using p = await makeProject()
    const call = await p.tick('--json')
    expect(call.code).toBe(0)
    expect(call.json()).toMatchObject({ schema: 1, outcome: 'worked', from: 'implement', to: 'code_review' })
    expect(p.state()).toMatchObject({ status: 'running', iteration_count: 1, current_task: 'fix-it' })
    expect(p.task()).toMatchObject({ phase: 'code_review', previous_phase: 'implement' })
  })

  test('commits on the loop branch with trailers, and never on main', async () => {
    using p = await makeProject()
    const main = p.git('rev-parse', 'main')
    await must(p.tick())
    expect(p.git('rev-parse', 'main')).toBe(main)
    const message = p.git('log', '-1', '--format=%B', 'automaton/nightly')
    expect(message).toContain('automaton(nightly): fix-it implement tick 1')
    expect(message).toContain('Automaton-Loop: nightly')
    expect(message).toContain('Automaton-Task: fix-it')
    expect(message).toContain('Automaton-Tick: 1')
    expect(p.git('diff', '--name-only', 'main', 'automaton/nightly')).toBe('src/work.txt')
    expect(p.git('status', '--porcelain')).toBe('?? .automaton/')
  })

  test('keeps prompt, artifact, verdict and intent in outputs, and the artifact in the task folder', async () => {
    using p = await makeProject()
    await must(p.tick())
    const names = readdirSync(join(p.loopDir, 'outputs'))
    for (const name of [
      'implement-prompt.md',
      'implement.md',
      'verify-prompt.md',
      'verdict.json',
      'intent.json',
    ]) {
      expect(names).toContain(`tick1-${name}`)
    }
    const artifact = readFileSync(join(p.root, '.automaton/tasks/fix-it/IMPLEMENTATION.md'), 'utf8')
    expect(artifact).toContain('Did the work.')
    expect(existsSync(join(p.worktree, '.automaton-run'))).toBe(false)
    expect(existsSync(join(p.loopDir, 'run.json'))).toBe(false)
  })

  test('a commit made inside the session counts as progress', async () => {
    using p = await makeProject({
      scenario: {
        implement: [
          'echo more >> src/work.txt',
          'git -c user.name=a -c user.email=a@a commit -qam "by the agent"',
          'echo done > "$AUTOMATON_OUTPUT"',
        ].join('\n'),
      },
    })
    const call = await p.tick('--json')
    expect(call.json()).toMatchObject({ to: 'code_review', verdict: { pass: true } })
    expect(p.git('log', '--format=%s', 'automaton/nightly')).toContain('by the agent')
  })

  test('three passes at score 1.0 do not halt', async () => {
    using p = await makeProject({
      scenario: { verify: `echo '{"pass": true, "score": 1.0}'`, orchestrate: 'automaton hold' },
    })
    for (let i = 0; i < 4; i++) expect((await p.tick()).code).toBe(0)
    expect(p.state()).toMatchObject({ status: 'running', iteration_count: 4, score_history: [1, 1, 1] })
  })

  test('the hint of a verdict is in the next implement prompt', async () => {
    using p = await makeProject({ scenario: { verify: failing } })
    await p.tick()
    await p.tick()
    const prompt = readFileSync(join(p.loopDir, 'outputs', 'tick2-implement-prompt.md'), 'utf8')
    expect(prompt).toContain('try harder')
    expect(prompt).toContain('Fix it, please.')
  })

  test('the implement session is told what it may change, and why good work stayed where it was', async () => {
    using p = await makeProject({
      createArgs: ['--scope', 'src/'],
      scenario: { orchestrate: 'automaton transition fix-it complete' },
    })
    const call = await p.tick('--json')
    expect(call.json()).toMatchObject({ action: 'hold', why: expect.stringContaining('edge') })
    expect((await p.call(['log', p.loop])).stdout).toContain('does not lead to complete')
    await p.tick()
    const prompt = readFileSync(join(p.loopDir, 'outputs', 'tick2-implement-prompt.md'), 'utf8')
    expect(prompt).toContain('You may change: `src/`')
    expect(prompt).toContain('The task stayed in its phase')
  })

  test('the verify session sees the artifact and the diff', async () => {
    using p = await makeProject()
    await must(p.tick())
    const prompt = readFileSync(join(p.loopDir, 'outputs', 'tick1-verify-prompt.md'), 'utf8')
    expect(prompt).toContain('Did the work.')
    expect(prompt).toContain('+work of implement')
  })

  test('rules mode follows the verdict line of the artifact without a session', async () => {
    using p = await makeProject({
      loop: {
        roles: { orchestrate: { prompt: 'loop-orchestrate.md', tier: 16000, model: null, mode: 'rules' } },
      },
      scenario: {
        implement: [
          'echo x >> src/work.txt',
          '[ "$AUTOMATON_PHASE" = code_review ] && echo "Verdict: CHANGES" > "$AUTOMATON_OUTPUT" || echo ok > "$AUTOMATON_OUTPUT"',
        ].join('\n'),
        orchestrate: 'exit 9',
      },
    })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ to: 'code_review' })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ to: 'implement' })
  })

  test('an empty artifact fails by rule, without a verify session', async () => {
    using p = await makeProject({ scenario: { implement: 'echo x >> src/work.txt', verify: 'exit 9' } })
    const call = await p.tick('--json')
    expect(call.json()).toMatchObject({ outcome: 'worked', verdict: { pass: false, score: 0 } })
    expect(p.state().status).toBe('running')
  })

  test('nothing changed since implement began fails by rule', async () => {
    using p = await makeProject({
      scenario: { implement: 'echo "I did it" > "$AUTOMATON_OUTPUT"', verify: 'exit 9' },
    })
    const call = await p.tick('--json')
    expect(call.json()).toMatchObject({ verdict: { pass: false, score: 0 } })
  })
})

describe('the work of a loop', () => {
  test('no work is exit 0 and changes nothing but the time of the tick', async () => {
    using p = await makeProject({ task: false })
    const before = p.state()
    const call = await p.tick('--json')
    expect(call.code).toBe(0)
    expect(call.json()).toMatchObject({ outcome: 'no_work' })
    const { last_tick_at, updated_at, ...rest } = p.state()
    expect(last_tick_at).not.toBeNull()
    expect(updated_at).toBe(last_tick_at)
    expect({ ...rest, last_tick_at: null, updated_at: before.updated_at }).toEqual(before)
  })

  test('several tasks are worked one after the other, oldest first', async () => {
    using p = await makeProject({
      files: { 'src/work.txt': 'start\n' },
      loop: { work_source: { phases: ['implement'] } },
    })
    await must(p.call(['create-task', 'second', '--brief', '-'], { stdin: 'Second.\n' }))
    expect((await must(p.tick('--json'))).json()).toMatchObject({ task: 'fix-it' })
    // The first task left the phases that this loop may work: that is what the gate calls drift.
    await must(p.call(['status', p.loop]))
  })

  test('a task that a person claimed is passed by', async () => {
    using p = await makeProject()
    await must(p.call(['claim', 'fix-it']))
    const call = await p.tick('--json')
    expect(call.json()).toMatchObject({ outcome: 'no_work' })
    await must(p.call(['release', 'fix-it']))
    expect((await p.tick('--json')).json()).toMatchObject({ outcome: 'worked' })
  })

  test('a branch that was squash-merged starts again from the new base', async () => {
    using p = await makeProject()
    await must(p.tick())
    p.git('merge', '--squash', '-q', 'automaton/nightly')
    p.git('commit', '-qm', 'squashed')
    const main = p.git('rev-parse', 'main')
    await must(p.tick())
    expect(p.state().base_sha).toBe(main)
    expect(p.git('merge-base', 'main', 'automaton/nightly')).toBe(main)
  })

  test('a person who commits and edits during a tick is no drift', async () => {
    using p = await makeProject()
    p.script({
      implement: [
        goodAgent.implement,
        `cd '${p.root}' && echo person >> README.md && git -c user.name=p -c user.email=p@p commit -qam person`,
        'echo dirty >> README.md; git branch topic; git tag v1; git config user.name Pat',
      ].join('\n'),
    })
    const call = await p.tick('--json')
    expect(call.json()).toMatchObject({ outcome: 'worked', to: 'code_review', halt: null })
  })

  test('a repository in a path with spaces and quotes works', async () => {
    using p = await makeProject({ folder: `it's "my" $repo é` })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ to: 'code_review' })
  })
})

describe('without a worktree', () => {
  test('sessions work in the primary checkout, and automaton commits nothing', async () => {
    using p = await makeProject({ createArgs: ['--no-worktree'] })
    const head = p.git('rev-parse', 'HEAD')
    expect((await must(p.tick('--json'))).json()).toMatchObject({ to: 'code_review' })
    expect(p.git('rev-parse', 'HEAD')).toBe(head)
    expect(readFileSync(join(p.root, 'src/work.txt'), 'utf8')).toContain('work of implement')
  })

  test('an edit out of scope in the primary checkout halts', async () => {
    using p = await makeProject({
      createArgs: ['--no-worktree', '--scope', 'src/'],
      scenario: { implement: 'echo x >> README.md; echo done > "$AUTOMATON_OUTPUT"' },
    })
    const call = await p.tick('--json')
    expect(call.code).toBe(4)
    expect(p.state().halt).toMatchObject({ reason: 'drift_detected', files: ['README.md'] })
  })

  test('a folder without git works, with a warning that status repeats', async () => {
    using p = await makeProject({ git: false, createArgs: ['--no-worktree'] })
    const call = await must(p.tick('--json'))
    expect(call.json()).toMatchObject({ to: 'code_review' })
    expect(JSON.stringify(call.json())).toContain('changes out of scope are not noticed')
    expect((await must(p.call(['status', p.loop]))).stdout).toContain('are not noticed')
  })
})
