import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goodAgent, makeProject, must, type TestProject } from '../helpers/project.ts'
import { git } from '../helpers/repo.ts'

setDefaultTimeout(60_000)

/** The same project at another place. */
function at(p: TestProject, root: string) {
  const loopDir = join(root, '.automaton/loops/nightly')
  return {
    root,
    worktree: join(loopDir, 'worktree'),
    pointers: () =>
      [join(root, '.git/worktrees/worktree/gitdir'), join(loopDir, 'worktree/.git')].map((file) =>
        readFileSync(file, 'utf8').trim(),
      ),
    state: () => JSON.parse(readFileSync(join(loopDir, '.state.loop'), 'utf8')),
    call: (...args: string[]) => p.call(args, { cwd: root, home: p.home }),
    sessionsIn: () => git(root, 'log', '--format=%s', 'automaton/nightly').split('\n').length,
  }
}

function move(p: TestProject) {
  const to = join(p.root, '..', 'elsewhere')
  renameSync(p.root, to)
  return at(p, to)
}

function copy(p: TestProject) {
  const to = join(p.root, '..', 'elsewhere')
  cpSync(p.root, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  return at(p, to)
}

const ownPointers = (root: string) => [
  join(root, '.automaton/loops/nightly/worktree/.git'),
  `gitdir: ${join(root, '.git/worktrees/worktree')}`,
]

describe('a project whose folder was moved', () => {
  test('ticks on in the same worktree, which git finds too', async () => {
    using p = await makeProject()
    await must(p.tick())
    const moved = move(p)
    const report = (await must(moved.call('tick', 'nightly', '--json'))).json()
    expect(report).toMatchObject({ outcome: 'worked', tick: 2 })
    expect(moved.pointers()).toEqual(ownPointers(moved.root))
    expect(git(moved.worktree, 'status', '--porcelain')).toBe('')
    expect(git(moved.root, 'worktree', 'list')).toContain(moved.worktree)
  })

  test('is no tampering for check-gate either, and none for an approval that discards', async () => {
    using p = await makeProject()
    await must(p.tick())
    writeFileSync(join(p.worktree, '.npmrc'), 'x\n')
    await p.call(['check-gate', 'nightly'])
    const { halt } = p.state()
    const moved = move(p)
    await must(moved.call('approve', '--loop', 'nightly', '--halt', halt.id, '--discard'))
    expect(existsSync(join(moved.worktree, '.npmrc'))).toBe(false)
    expect((await moved.call('check-gate', 'nightly')).json()).toMatchObject({ ok: true })
  })

  test('after its tick was killed: the work is kept, and the move is no tampering', async () => {
    using p = await makeProject({
      scenario: { 'implement-1': 'echo half >> src/work.txt; kill -9 $PPID; sleep 30' },
    })
    await p.tick()
    const moved = move(p)
    const report = (await must(moved.call('tick', 'nightly', '--json'))).json()
    expect(report).toMatchObject({ outcome: 'worked', tick: 1 })
    const kept = /refs\/automaton\/recovered\/\S+/.exec(`${report.recovered}`)?.[0] ?? ''
    expect(git(moved.root, 'show', `${kept}:src/work.txt`)).toContain('half')
  })

  test('with a .git file in the worktree that a session planted: it leads nowhere, and nothing of it runs', async () => {
    using p = await makeProject()
    await must(p.tick())
    const evil = join(p.home, 'evil')
    git(p.home, 'init', '-q', 'evil')
    const ran = join(p.home, 'ran')
    writeFileSync(join(p.home, 'monitor'), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 })
    git(evil, 'config', 'core.fsmonitor', join(p.home, 'monitor'))
    const moved = move(p)
    writeFileSync(join(moved.worktree, '.git'), `gitdir: ${join(evil, '.git')}\n`)
    await must(moved.call('tick', 'nightly'))
    expect(moved.pointers()).toEqual(ownPointers(moved.root))
    expect(existsSync(ran)).toBe(false)
  })

  test('whose entry in git is on another branch halts as tampering', async () => {
    using p = await makeProject()
    await must(p.tick())
    const moved = move(p)
    writeFileSync(join(moved.root, '.git/worktrees/worktree/HEAD'), 'ref: refs/heads/main\n')
    expect((await moved.call('tick', 'nightly')).code).toBe(6)
    expect(moved.state().halt.detail).toBe('tamper:head')
  })
})

test('two checkouts of one repository are no copies: a loop takes no worktree from one of the same name', async () => {
  using p = await makeProject()
  await must(p.tick())
  const root = join(p.root, '..', 'second')
  p.git('worktree', 'add', '-q', '--detach', root)
  const second = at(p, root)
  await must(second.call('create-loop', 'nightly', '--from-template', 'backlog', '--base', 'main'))
  cpSync(join(p.loopDir, 'loop.json'), join(root, '.automaton/loops/nightly/loop.json'))
  await must(p.call(['create-task', 'other', '--brief', '-'], { cwd: root, home: p.home, stdin: 'Do it.\n' }))
  const call = await second.call('tick', 'nightly')
  expect(call.code).toBe(5)
  expect(call.stderr).toContain(`it is checked out in ${p.worktree}`)
  await must(second.call('repair', 'nightly'))
  expect(at(p, p.root).pointers()).toEqual(ownPointers(p.root))
  await must(p.tick())
})

describe('a project that was copied', () => {
  test('is refused without a halt, and does not touch the other one’s worktree', async () => {
    using p = await makeProject()
    await must(p.tick())
    const copied = copy(p)
    const before = copied.state()
    const call = await copied.call('tick', 'nightly', '--json')
    expect(call.code).toBe(5)
    expect(call.json()).toMatchObject({
      outcome: 'refused',
      gate: { reason: 'refused:no_git', fix: 'automaton repair nightly' },
    })
    expect(`${JSON.stringify(call.json())}`).toContain(p.worktree)
    expect((await copied.call('check-gate', 'nightly')).json()).toMatchObject({ reason: 'refused:no_git' })
    expect((await copied.call('sync', 'nightly')).stderr).toContain('automaton repair nightly')
    expect((await copied.call('doctor')).stdout).toContain('automaton repair nightly')
    expect(copied.state()).toEqual(before)
    expect(at(p, p.root).pointers()).toEqual(ownPointers(p.root))
    await must(p.tick())
  })

  test('gets a worktree of its own by repair, which a person approves; then both tick', async () => {
    using p = await makeProject()
    await must(p.tick())
    const copied = copy(p)
    await must(copied.call('repair', 'nightly'))
    expect(copied.state()).toMatchObject({ status: 'halted', halt: { detail: 'copied' } })
    await must(copied.call('approve', '--loop', 'nightly', '--halt', copied.state().halt.id))
    await must(copied.call('tick', 'nightly'))
    expect(copied.pointers()).toEqual(ownPointers(copied.root))
    expect(at(p, p.root).pointers()).toEqual(ownPointers(p.root))
    expect(copied.sessionsIn()).toBe(at(p, p.root).sessionsIn() + 1)
    await must(p.tick())
    expect(git(p.worktree, 'status', '--porcelain')).toBe('')
  })

  test('in the middle of a tick ends none of that tick’s processes', async () => {
    const go = 'touch "$AUTOMATON_HOME.here"; until test -e "$AUTOMATON_HOME.go"; do sleep 0.05; done'
    using p = await makeProject({ scenario: { 'implement-2': `${go}\n${goodAgent.implement}` } })
    await must(p.tick())
    const tick = p.tick('--json')
    while (!existsSync(`${p.home}/.automaton.here`)) await Bun.sleep(10)
    const copied = copy(p)
    expect((await copied.call('tick', 'nightly')).code).toBe(5)
    await must(copied.call('repair', 'nightly'))
    await must(copied.call('approve', '--loop', 'nightly', '--halt', copied.state().halt.id))
    mkdirSync(join(p.scenarioDir, '.ran-implement-2'), { recursive: true })
    await must(copied.call('tick', 'nightly'))
    writeFileSync(`${p.home}/.automaton.go`, '')
    expect((await must(tick)).json()).toMatchObject({ outcome: 'worked', tick: 2 })
  })
})
