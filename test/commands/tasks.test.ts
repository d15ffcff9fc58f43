import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { taskPlaces } from '../../src/store/layout.ts'
import { readTask } from '../../src/store/tasks.ts'
import { makeTask, type Scratch, scratch, withLoop } from './fixture.ts'

function task(s: Scratch, name: string) {
  const state = readTask(s.project, name)
  if (!state || 'problem' in state) throw new Error(`no task ${name}`)
  return state
}

describe('create-task', () => {
  test('keeps brief, scope, criteria and design', async () => {
    using s = scratch()
    writeFileSync(join(s.root, 'brief.md'), '# Do it\n')
    const args = ['--brief', 'brief.md', '--scope', 'src/', '--scope', 'test/', '--criterion', 'it works']
    const call = await s.run('create-task', 'do-it', ...args, '--design', 'design/x.md', '--json')
    expect(call.json()).toMatchObject({ created: true, task: { task: 'do-it', phase: 'implement' } })
    expect(task(s, 'do-it')).toMatchObject({
      scope: ['src/', 'test/'],
      acceptance_criteria: ['it works'],
      design_ref: 'design/x.md',
      origin: { kind: 'human', fingerprint: null },
    })
    expect(readFileSync(taskPlaces(s.project, 'do-it').brief, 'utf8')).toBe('# Do it\n')
    expect((await s.run('task', 'do-it')).stdout).toContain('# Do it')
  })

  test('one fingerprint is one open task', async () => {
    using s = scratch()
    await makeTask(s, 'first', '--fingerprint', 'abc')
    const again = await s.call(['create-task', 'second', '--brief', '-', '--fingerprint', 'abc', '--json'], {
      stdin: 'x\n',
    })
    expect(again.code).toBe(0)
    expect(again.json()).toMatchObject({ created: false, task: { task: 'first' } })
    expect(existsSync(taskPlaces(s.project, 'second').dir)).toBe(false)
  })

  test('says what comes next: a loop, its tick, or an approval', async () => {
    using s = scratch()
    const next = async (task: string, ...options: string[]) => {
      const args = ['create-task', task, '--brief', '-', ...options]
      return (await s.call(args, { stdin: 'x\n' })).stdout.split('next  ')[1]?.trimEnd()
    }
    expect(await next('a')).toBe('automaton create-loop nightly --from-template backlog')
    await s.run('create-loop', 'one', '--from-template', 'backlog')
    expect(await next('b')).toBe('automaton tick one')
    expect(await next('c', '--phase', 'design')).toBe('automaton approve --task c')
    await s.run('create-loop', 'two', '--from-template', 'backlog')
    expect(await next('d')).toBe('automaton status')
  })

  test('refuses a missing brief, an empty one, a bad phase, a taken name', async () => {
    using s = scratch()
    await makeTask(s, 'taken')
    writeFileSync(join(s.root, 'b.md'), 'x\n')
    const rows: [args: string[], says: RegExp][] = [
      [['x'], /it needs --brief FILE/],
      [['x', '--brief', 'gone.md'], /no brief \(gone.md\)/],
      [['x', '--brief', '.'], /no brief/],
      [['x', '--brief', '-'], /empty brief/],
      [['x', '--brief', 'b.md', '--phase', 'complete'], /bad phase \(complete\)/],
      [['x', '--brief', 'b.md', '--phase', 'coding'], /unknown phase \(coding\)/],
      [['taken', '--brief', 'b.md'], /task exists already \(taken\)/],
      [['UPPER', '--brief', 'b.md'], /bad task name/],
    ]
    for (const [args, says] of rows) {
      const call = await s.run('create-task', ...args)
      expect(call.stderr).toMatch(says)
      expect(call.code).toBe(2)
    }
  })
})

describe('transition', () => {
  test('walks an edge with its artifact, as a person', async () => {
    using s = scratch()
    await makeTask(s, 't')
    const bare = await s.run('transition', 't', 'code_review')
    expect(bare.code).toBe(3)
    expect(bare.stderr).toContain('IMPLEMENTATION.md')
    writeFileSync(join(taskPlaces(s.project, 't').dir, 'IMPLEMENTATION.md'), 'done\n')
    expect((await s.run('transition', 't', 'code_review', '--reason', 'it is done')).code).toBe(0)
    expect(task(s, 't').history.at(-1)).toMatchObject({
      from: 'implement',
      to: 'code_review',
      actor: 'human',
      note: 'it is done',
    })
  })

  test('refuses an edge that is not in the table, an unknown phase, and an unknown task', async () => {
    using s = scratch()
    await makeTask(s, 't')
    expect((await s.run('transition', 't', 'referee')).stderr).toContain('edge')
    expect((await s.run('transition', 't', 'done')).code).toBe(2)
    expect((await s.run('transition', 'nope', 'code_review')).code).toBe(2)
  })
})

describe('the operation of an orchestrate session', () => {
  function session(s: Scratch, role = 'orchestrate') {
    const intent = join(s.root, 'intent.json')
    const env = {
      AUTOMATON_IN_TICK: 'nightly',
      AUTOMATON_ROLE: role,
      AUTOMATON_TASK: 't',
      AUTOMATON_PHASE: 'implement',
      AUTOMATON_INTENT: intent,
    }
    return { intent, run: (...args: string[]) => s.call(args, { env }) }
  }

  test('is written down and nothing else; the second one is refused', async () => {
    using s = await withLoop()
    await makeTask(s, 't')
    const { intent, run } = session(s)
    expect((await run('transition', 't', 'code_review', '--reason', 'good')).code).toBe(0)
    expect(JSON.parse(readFileSync(intent, 'utf8'))).toEqual({
      action: 'transition',
      to: 'code_review',
      reason: 'good',
    })
    expect(task(s, 't').phase).toBe('implement')
    for (const args of [['hold'], ['escalate', 'help'], ['transition', 't', 'code_review']]) {
      const second = await run(...args)
      expect(second.code).toBe(6)
      expect(second.stderr).toContain('second operation refused')
    }
  })

  test.each([
    [['hold', 'not', 'yet'], { action: 'hold', reason: 'not yet' }],
    [['escalate', 'the brief lies'], { action: 'escalate', reason: 'the brief lies' }],
  ])('%p is one too', async (args, expected) => {
    using s = await withLoop()
    const { intent, run } = session(s)
    expect((await run(...args)).code).toBe(0)
    expect(JSON.parse(readFileSync(intent, 'utf8'))).toEqual(expected)
  })

  test('belongs to that role, and to that task', async () => {
    using s = await withLoop()
    await makeTask(s, 't')
    for (const role of ['implement', 'verify', '']) {
      expect((await session(s, role).run('hold')).code).toBe(6)
    }
    const { intent, run } = session(s)
    expect((await run('transition', 'other', 'code_review')).code).toBe(2)
    expect((await run('escalate')).code).toBe(2)
    expect(existsSync(intent)).toBe(false)
  })

  test('a link at its place is not written through', async () => {
    using s = await withLoop()
    const { intent, run } = session(s)
    symlinkSync(join(s.root, 'elsewhere'), intent)
    expect((await run('hold')).code).toBe(6)
    expect(existsSync(join(s.root, 'elsewhere'))).toBe(false)
  })

  test('escalate and hold outside of a tick say what a person types instead', async () => {
    using s = await withLoop()
    const call = await s.run('hold')
    expect(call.code).toBe(2)
    expect(call.stderr).toStartWith('automaton: not inside a tick (automaton hold): ')
    expect(call.stderr).toContain('automaton pause-loop LOOP')
    expect((await s.run('escalate', 'help')).stderr).toStartWith(
      'automaton: not inside a tick (automaton escalate): ',
    )
  })
})

describe('claims', () => {
  test('a person takes a task and gives it back; no loop gets it meanwhile', async () => {
    using s = await withLoop()
    await makeTask(s, 't')
    expect((await s.run('claim', 't')).code).toBe(0)
    expect((await s.run('claim', 't')).code).toBe(0)
    const refused = await s.run('claim-loop-task', 'nightly', '--task', 't')
    expect(refused.code).toBe(3)
    expect(refused.json()).toMatchObject({
      schema: 1,
      ok: false,
      owner: task(s, 't').claimed_by,
      since: null,
    })
    expect((await s.run('release', 't')).code).toBe(0)
    const taken = await s.run('claim-loop-task', 'nightly', '--task', 't')
    expect(taken.json()).toEqual({ schema: 1, ok: true, task: 't', owner: 'nightly' })
    expect((await s.run('claim-loop-task', 'nightly', '--task', 't')).code).toBe(0)
    expect(s.state('nightly')).toMatchObject({ current_task: 't', current_phase: 'implement' })
  })

  test('of two loops one gets it, and the other is told who and since when', async () => {
    using s = await withLoop('one')
    await s.run('create-loop', 'two', '--from-template', 'backlog')
    await makeTask(s, 't')
    expect((await s.run('claim-loop-task', 'one', '--task', 't')).code).toBe(0)
    const other = await s.run('claim-loop-task', 'two', '--task', 't')
    expect(other.code).toBe(3)
    expect(other.json()).toMatchObject({ ok: false, owner: 'one', since: s.state('one').claimed_at })
  })
})

describe('task-list', () => {
  test('lists tasks, oldest first, and folders without a state', async () => {
    using s = scratch()
    await makeTask(s, 'zeta')
    await makeTask(s, 'alpha')
    mkdirSync(join(s.project.tasks, 'stray'))
    const { tasks, untracked } = (await s.run('task-list', '--json')).json() as {
      tasks: { task: string }[]
      untracked: string[]
    }
    expect(tasks.map((line) => line.task)).toEqual(['zeta', 'alpha'])
    expect(untracked).toEqual(['stray'])
    expect((await s.run('tasks')).stdout).toContain('stray  untracked')
  })
})
