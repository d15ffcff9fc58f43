import { expect, test } from 'bun:test'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeMachine } from '../helpers/installer.ts'
import { must } from '../helpers/project.ts'

test('an uninstall takes the program away and leaves the repository, and says what is left; again is no fault', async () => {
  using m = makeMachine()
  await must(m.install(['--git-url', m.remote('home.git'), '--binary', m.program]))
  const asked = await m.call('uninstall')
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('automaton uninstall --yes') })
  expect(existsSync(join(m.home, 'bin', 'automaton'))).toBe(true)

  const done = await must(m.call('uninstall', '--yes'))
  expect(done.stdout).toContain(`gone  ${m.home}/bin/automaton`)
  expect(done.stdout).toContain('your repository')
  expect(readdirSync(join(m.home, 'bin'))).toEqual([])
  expect(await m.git('status', '--porcelain')).toBe('')
  expect(existsSync(join(m.home, '.automaton', 'loops', 'self-improvement', 'loop.json'))).toBe(true)
  expect((await must(m.run([m.program, 'uninstall', '--yes']))).stdout).toContain('nothing to take away')
  // What a person put beside the program is theirs.
  await must(m.install(['--binary', m.program]))
  writeFileSync(join(m.home, 'bin', 'mine'), '')
  await must(m.call('uninstall', '--yes'))
  expect(readdirSync(join(m.home, 'bin'))).toEqual(['mine'])
})

test('the schedules of all projects go, foreign lines of the crontab stay, and the next installation schedules again', async () => {
  using m = makeMachine()
  const foreign = '# mine\n5 4 * * * backup'
  writeFileSync(join(m.dir, 'crontab'), foreign)
  await must(m.install(['--git-url', m.remote('home.git'), '--binary', m.program]))
  const project = join(m.user, 'my project')
  await must(m.run(['git', 'init', '-q', '-b', 'main', project]))
  const who = ['-c', 'user.name=Pat', '-c', 'user.email=pat@example.test']
  await must(m.run(['git', '-C', project, ...who, 'commit', '-q', '--allow-empty', '-m', 'first']))
  await must(m.call('create-loop', 'nightly', '--from-template', 'backlog', '--project', project))
  await must(m.call('install-schedule', 'nightly', '--project', project))
  const scheduled = () => m.crontab().match(/automaton-loop-tick/g)?.length ?? 0
  expect(scheduled()).toBe(2)

  m.fake('crontab', 'echo "the table is locked" >&2; exit 1')
  const stopped = await m.call('uninstall', '--yes')
  expect(stopped.code).toBe(5)
  expect(stopped.stderr).toMatch(/uninstall stopped \(self-improvement in .*locked/)
  expect(existsSync(join(m.home, 'bin', 'automaton'))).toBe(true)
  m.fakeCrontab()

  const done = await must(m.call('uninstall', '--yes', '--json'))
  expect(done.json()).toMatchObject({
    unscheduled: [
      { loop: 'self-improvement', project: m.home },
      { loop: 'nightly', project },
    ],
    removed: [join(m.home, 'bin', 'automaton')],
  })
  expect(m.crontab().trimEnd()).toBe(foreign)
  for (const root of [m.home, project]) {
    const left = readdirSync(join(root, '.automaton', 'loops'), { recursive: true, encoding: 'utf8' })
    expect(left.filter((name) => name.includes('automaton-loop-tick'))).toEqual([])
  }
  expect((await must(m.install(['--binary', m.program]))).stdout).toContain('there, scheduled')
  expect(scheduled()).toBe(1)
})

test('neither can be called from inside a tick', async () => {
  using m = makeMachine()
  for (const verb of ['install', 'uninstall']) {
    const done = await m.run([m.program, verb], { AUTOMATON_IN_TICK: 'nightly' })
    expect(done).toMatchObject({ code: 6, stderr: expect.stringContaining('refused inside a tick') })
  }
})

test('schedules of loops and projects that somebody deleted go as well, and their folders are not made again', async () => {
  using m = makeMachine()
  await must(m.install(['--git-url', m.remote('home.git'), '--binary', m.program]))
  const project = join(m.user, 'gone')
  await must(m.run(['git', 'init', '-q', '-b', 'main', project]))
  const who = ['-c', 'user.name=Pat', '-c', 'user.email=pat@example.test']
  await must(m.run(['git', '-C', project, ...who, 'commit', '-q', '--allow-empty', '-m', 'first']))
  await must(m.call('create-loop', 'nightly', '--from-template', 'backlog', '--project', project))
  await must(m.call('install-schedule', 'nightly', '--project', project))
  const before = readdirSync(m.user)
  rmSync(project, { recursive: true })
  rmSync(join(m.home, '.automaton', 'loops', 'self-improvement'), { recursive: true })
  expect(m.crontab().match(/automaton-loop:/g)).toHaveLength(2)
  const done = (await must(m.call('uninstall', '--yes', '--json'))).json()
  expect(done.unscheduled).toContainEqual({ loop: 'nightly', project })
  expect(done.unscheduled).toContainEqual({ loop: 'self-improvement', project: m.home })
  expect(m.crontab()).toBe('')
  expect(readdirSync(m.user)).toEqual(before.filter((name) => name !== 'gone'))
})
