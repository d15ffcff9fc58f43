import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { binary, callEnv } from '../helpers/cli.ts'
import { processesWith } from '../helpers/processes.ts'
import { goodAgent, makeProject, must, type TestProject } from '../helpers/project.ts'
import { git } from '../helpers/repo.ts'

const rules = { roles: { orchestrate: { mode: 'rules' } } }
const tasksOf = async (p: TestProject) =>
  ((await must(p.call(['task-list', '--json']))).json().tasks as { task: string; phase: string }[]).map(
    ({ task, phase }) => `${task}: ${phase}`,
  )
/** Changes a file on the base branch. */
const commitFile = (p: TestProject, path: string, text: string) => {
  writeFileSync(join(p.root, path), text)
  git(p.root, 'add', path)
  git(p.root, 'commit', '-q', '-m', `change ${path}`)
}

const report = (failing: string[]) =>
  `<testsuites><testsuite name="s">${['adds', 'divides']
    .map((name) =>
      failing.includes(name)
        ? `<testcase classname="math" name="${name}" file="test/math.ts"><failure message="expected 3 &amp; got 4">at line 7</failure></testcase>`
        : `<testcase classname="math" name="${name}"/>`,
    )
    .join('')}</testsuite></testsuites>`

describe('the source ci', () => {
  const commands = [['sh', '-c', 'echo looking; grep -q ok src/work.txt']]
  const ciLoop = (options: object) => ({ ...rules, work_source: { kind: 'ci', options } })

  test('the template ci-triage ticks: one task for the failing check, worked until it is done, and made once', async () => {
    using p = await makeProject({
      template: 'ci-triage',
      task: false,
      loop: { ...ciLoop({ commands }), brakes: { max_iterations: 20 } },
      scenario: { implement: `echo ok >> src/work.txt\n${goodAgent.implement}` },
    })
    const first = (await must(p.tick('--json'))).json()
    expect(first).toMatchObject({ outcome: 'worked', from: 'implement', to: 'code_review' })
    const task = String(first.task)
    const brief = readFileSync(join(p.root, '.automaton/tasks', task, 'TASK.md'), 'utf8')
    expect(brief).toContain('It exited with 1.')
    expect(brief).toContain('looking')
    for (let i = 0; i < 4; i++) await must(p.tick())
    expect(await tasksOf(p)).toEqual([`${task}: complete`])
    // The check still fails on the base branch, until a person merges the work.
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'no_work' })
    git(p.root, 'merge', '-q', `automaton/${p.loop}`)
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'no_work' })
    // It fails anew: that is a new task.
    commitFile(p, 'src/work.txt', 'bad again\n')
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked', task: `${task}-2` })
  })

  test('a tick killed in the middle of a check is cleaned up after: its programs end, and it counts as unfinished', async () => {
    using p = await makeProject({ task: false, loop: rules })
    const started = join(p.scenarioDir, 'started')
    Bun.spawnSync(['mkfifo', started])
    p.configure(ciLoop({ commands: [['sh', '-c', `setsid sleep 300 & echo started > '${started}'; wait`]] }))
    const env = callEnv({ cwd: p.root, home: p.home })
    const tick = Bun.spawn([binary, 'tick', p.loop], { cwd: p.root, env, stdout: 'ignore', stderr: 'ignore' })
    await Bun.spawn(['cat', started], { stdout: 'ignore' }).exited
    const record = JSON.parse(readFileSync(join(p.loopDir, 'run.json'), 'utf8'))
    expect(record).toMatchObject({ step: 'find', task: null, phase: null })
    tick.kill('SIGKILL')
    await tick.exited
    const left = () => processesWith(`AUTOMATON_RUN_ID=${record.run}`)
    expect(left().length).toBeGreaterThanOrEqual(2)
    p.configure(ciLoop({ commands: [['true']] }))
    const next = (await must(p.tick('--json'))).json()
    expect(next).toMatchObject({ outcome: 'no_work' })
    expect(next.recovered).toContain('did not finish (step find)')
    expect(left()).toEqual([])
    expect(existsSync(join(p.loopDir, 'run.json'))).toBe(false)
    expect(p.state()).toMatchObject({ incomplete_ticks: 1, iteration_count: 0, cost: { reported: true } })
  })

  test('runs in a clean checkout of the base branch, without hooks, filters and the person’s files', async () => {
    using p = await makeProject({ task: false, loop: rules })
    const spy = join(p.scenarioDir, 'spy')
    writeFileSync(join(p.root, '.git/hooks/post-checkout'), `#!/bin/sh\necho hook >> ${spy}\n`, {
      mode: 0o755,
    })
    git(p.root, 'config', 'filter.spy.smudge', `sh -c 'echo filter >> ${spy}; cat'`)
    commitFile(p, '.gitattributes', '*.txt filter=spy\n')
    writeFileSync(join(p.root, 'src/work.txt'), 'edited, not committed\n')
    writeFileSync(join(p.root, 'untracked.txt'), 'mine\n')
    const script =
      'test ! -e untracked.txt && test ! -e .git && grep -q start src/work.txt && echo junk > junk.txt'
    p.configure(ciLoop({ commands: [['sh', '-c', script]] }))
    const call = await must(p.tick('--json'))
    expect(call.json()).toMatchObject({ outcome: 'no_work' })
    expect(existsSync(spy)).toBe(false)
    expect(existsSync(join(p.root, 'junk.txt'))).toBe(false)
  })

  test('each failed case of a JUnit report is a task, and what failed beside them too', async () => {
    const files = { 'README.md': '# x\n', 'src/work.txt': 'start\n', 'r.xml': report(['adds', 'divides']) }
    using p = await makeProject({ task: false, files, loop: { ...rules, brakes: { max_iterations: 20 } } })
    const tests = ['sh', '-c', 'mkdir -p out; cp r.xml out/junit.xml; exit 1']
    p.configure(ciLoop({ commands: [tests, ['sh', '-c', 'exit 7']], junit: ['out/*.xml'] }))
    await must(p.tick())
    expect(await tasksOf(p)).toEqual(['failing-test-math-adds: code_review'])
    const brief = readFileSync(join(p.root, '.automaton/tasks/failing-test-math-adds/TASK.md'), 'utf8')
    expect(brief).toContain('expected 3 & got 4\nat line 7')
    expect(brief).toContain('`test/math.ts`')
    // Its task is a person's now; the next is for the next failing case, and then for the other check.
    for (const next of ['failing-test-math-divides', 'failing-check-sh-c-exit-7']) {
      const at = p.state().current_task
      await must(p.call(['transition', at, 'human_intervention', '--reason', 'mine']))
      await p.tick()
      await must(p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id]))
      expect((await must(p.tick('--json'))).json()).toMatchObject({ task: next })
    }
  })

  test('the open task of a check that passes again is put aside; a later failure makes a new one', async () => {
    using p = await makeProject({ task: false, loop: rules })
    p.configure(ciLoop({ commands }))
    await must(p.tick())
    const [made = ''] = await tasksOf(p)
    const name = made.split(':')[0] ?? ''
    // Let go of it as a person would: take it, let the loop notice, and give it back.
    await must(p.call(['claim', name]))
    commitFile(p, 'src/work.txt', 'ok\n')
    await must(p.tick())
    await must(p.call(['release', name]))
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'no_work' })
    expect(await tasksOf(p)).toEqual([`${name}: human_intervention`])
    expect(p.task(name).blocked_reason).toBe('the check passes again on the base branch')
    commitFile(p, 'src/work.txt', 'bad\n')
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked', task: `${name}-2` })
    // A person closes the old one for good.
    await must(p.call(['approve', '--task', name, '--to', 'complete']))
  })

  test('checks that could not be prepared say nothing of the project: no task, exit 5', async () => {
    using p = await makeProject({ task: false, loop: rules })
    p.configure(ciLoop({ prepare: [['sh', '-c', 'echo no network >&2; exit 9']], commands: [['false']] }))
    const call = await p.tick()
    expect(call.code).toBe(5)
    expect(call.stderr).toContain('exited with 9, so the checks were not run: no network')
    expect(await tasksOf(p)).toEqual([])
  })

  test('create-loop fills in the project’s test command, and what fetches its packages', async () => {
    const files = {
      'package.json': '{"scripts":{"test":"true"}}',
      'package-lock.json': '{}',
      'src/work.txt': 'x\n',
    }
    using p = await makeProject({ template: 'ci-triage', task: false, files })
    const config = JSON.parse(readFileSync(join(p.loopDir, 'loop.json'), 'utf8'))
    expect(config.work_source).toMatchObject({
      kind: 'ci',
      options: { prepare: [['npm', 'ci', '--cache', '.npm-cache']], commands: [['npm', 'test']] },
    })
  })
})

describe('the source command', () => {
  const withItems = (options: object) => ({ ...rules, work_source: { kind: 'command', options } })
  const print = (text: string) => ['printf', '%s', text]

  test('items of any program become tasks, each once, whatever becomes of their words', async () => {
    using p = await makeProject({ task: false, loop: rules })
    const issues = (title: string) =>
      JSON.stringify([{ number: 7, title, body: 'Login fails.\n', url: 'https://example.test/7' }])
    const fields = { id: 'number', brief: 'body' }
    p.configure(withItems({ command: print(issues('Fix the login')), fields, name: 'gh' }))
    expect((await must(p.tick('--json'))).json()).toMatchObject({ task: 'fix-the-login' })
    expect(p.task('fix-the-login')).toMatchObject({
      design_ref: 'https://example.test/7',
      origin: { kind: 'source' },
    })
    expect(readFileSync(join(p.root, '.automaton/tasks/fix-the-login/TASK.md'), 'utf8')).toBe(
      '# Fix the login\n\nLogin fails.\n\nFrom https://example.test/7\n',
    )
    p.configure(withItems({ command: print(issues('Repair the login')), fields, name: 'gh' }))
    await must(p.tick())
    expect(await tasksOf(p)).toHaveLength(1)
  })

  test('one object a line, and a list that lies deep, are read', async () => {
    using p = await makeProject({ task: false, loop: rules })
    p.configure(
      withItems({ command: print('{"id":"a","title":"From a line"}\n\n{"id":"b","title":"Other"}\n') }),
    )
    expect((await must(p.tick('--json'))).json()).toMatchObject({ task: 'from-a-line' })
    const jira = { issues: [{ key: 'ABC-1', fields: { summary: 'From Jira', description: null } }] }
    using q = await makeProject({ task: false, loop: rules })
    const fields = { id: 'key', title: 'fields.summary', brief: 'fields.description' }
    q.configure(withItems({ command: print(JSON.stringify(jira)), items: 'issues', fields }))
    expect((await must(q.tick('--json'))).json()).toMatchObject({ task: 'from-jira' })
  })

  test('a program that fails, and what is no item, are errors that say where; no task is made', async () => {
    using p = await makeProject({ task: false, loop: rules })
    const rows: [string[], string][] = [
      [
        ['sh', '-c', 'echo not logged in >&2; exit 4'],
        '`sh -c echo not logged in >&2; exit 4` exited with 4: not logged in',
      ],
      [print('{"id":1,"title":"x"}\nbroken'), "line 2 of the program's output is not JSON: broken"],
      [print('[{"id":1}]'), "item 1 of the program's output: title: it is missing"],
      [print('"text"'), "the program's output: it is no list"],
    ]
    for (const [command, says] of rows) {
      p.configure(withItems({ command }))
      const call = await p.tick()
      expect(call.stderr).toContain(says)
      expect(call.code).toBe(5)
    }
    expect(await tasksOf(p)).toEqual([])
    p.configure(withItems({ command: ['true'] }))
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'no_work' })
  })

  test('the program sees a named variable, and no other of the person’s', async () => {
    using p = await makeProject({ task: false, loop: rules })
    const script = 'printf \'{"id":1,"title":"%s and %s"}\' "$ACME_TOKEN_NAME" "$OTHER_NAME"'
    p.configure(withItems({ command: ['sh', '-c', script], env: ['ACME_TOKEN_NAME'] }))
    const env = { ACME_TOKEN_NAME: 'seen', OTHER_NAME: 'hidden' }
    const call = await p.call(['tick', p.loop, '--json'], { env })
    expect(call.json()).toMatchObject({ task: 'seen-and' })
  })

  test('without a worktree the program runs in the sandbox: a session may have changed it', async () => {
    using p = await makeProject({ task: false, loop: rules, createArgs: ['--no-worktree'] })
    const outside = join(p.root, '..', 'outside.txt')
    const script = `echo x > '${outside}'; echo '{"id":1,"title":"Do it"}'`
    p.configure(withItems({ command: ['sh', '-c', script] }))
    p.configure({ blast_radius: { sandbox: 'auto' } })
    const tier = (await must(p.call(['status', '--json']))).json()
    const isT1 = JSON.stringify(tier).includes('"tier":"T1"')
    await p.tick()
    expect(existsSync(outside)).toBe(!isT1)
  })
})
