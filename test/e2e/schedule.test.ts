import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { binary, callEnv } from '../helpers/cli.ts'
import { must } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'
import { cronProject } from './schedule-kit.ts'

const others = 'MAILTO=me\n0 5 * * * backup \xff\n'
const oneTick = { loop: { brakes: { max_iterations: 1 } } }

describe('install-schedule', () => {
  test('writes interval, script and unit, a second time nothing, and uninstall takes it all away', async () => {
    using project = await cronProject({ folder: "a repo 100% 'mine' $HOME;x" })
    project.setTable(others)
    const config = readFileSync(join(project.loopDir, 'loop.json'), 'utf8')
    const install = ['install-schedule', 'nightly', '--json']
    const first = (await must(project.call([...install, '--interval', '1800']))).json()
    expect(first).toMatchObject({ schema: 1, scheduler: 'cron', interval_seconds: 1800, enabled: true })
    expect(first.changed).toHaveLength(3)
    expect(project.table()).toMatch(/\n\*\/30 \* \* \* \* '.*' # automaton-loop:nightly:[0-9a-f]{8}\n$/)
    expect(project.table()).toStartWith(others)
    expect(readFileSync(join(project.loopDir, 'loop.json'), 'utf8')).toBe(
      config.replace('"interval_seconds": 3600', '"interval_seconds": 1800'),
    )
    expect(statSync(project.scriptFile).mode & 0o777).toBe(0o700)
    expect(readFileSync(project.scriptFile, 'utf8').trimEnd().split('\n')).toHaveLength(3)
    expect(project.state().schedule).toEqual({ enabled: true, kind: 'cron' })
    const before = [project.table(), readFileSync(project.scriptFile, 'utf8'), project.log().length]
    expect((await must(project.call(install))).json().changed).toEqual([])
    expect([project.table(), readFileSync(project.scriptFile, 'utf8'), project.log().length]).toEqual(before)
    const gone = await must(project.call(['uninstall-schedule', 'nightly', '--json']))
    expect(gone.json()).toMatchObject({
      scheduler: 'cron',
      removed: ['the unit of cron', project.scriptFile],
    })
    expect(project.table()).toBe(others)
    expect(project.state().schedule).toEqual({ enabled: false, kind: null })
    expect((await must(project.call(['uninstall-schedule', 'nightly', '--json']))).json().removed).toEqual([])
  }, 60_000)

  test.each([
    [['--interval', '59'], 'less than a minute', 'automaton daemon nightly'],
    [['--interval', '90'], 'not whole minutes', 'automaton daemon nightly'],
    [['--interval', 'soon'], 'bad', '--help'],
    [['--scheduler', 'crom'], 'unknown scheduler (crom)', 'automaton plugins'],
  ])('%p is refused, and nothing has changed', async (options, why, fix) => {
    using project = await cronProject()
    const call = await project.call(['install-schedule', 'nightly', ...options])
    expect(call.code).toBe(2)
    expect(call.stderr).toContain(why)
    expect(call.stderr).toContain(fix)
    expect(project.table()).toBeNull()
    expect(project.state().schedule.kind).toBeNull()
  })

  test('a loop that loop.json keeps from schedulers gets none, and one that was scheduled is not ticked', async () => {
    using project = await cronProject()
    await must(project.call(['install-schedule', 'nightly']))
    project.configure({ schedule: { kind: 'daemon' } })
    expect((await project.call(['install-schedule', 'nightly'])).stderr).toContain(
      'loop.json says schedule.kind "daemon": the daemon alone ticks it',
    )
    const tick = await project.tick('--scheduled', '--json')
    expect([tick.code, tick.stdout]).toEqual([0, ''])
    expect(project.state().last_tick_at).toBeNull()
    expect((await project.call(['doctor'])).stdout).toContain('uninstall-schedule nightly')
  })

  test.each([
    ['cannot be read', '[ "$1" = -l ] && { echo "cannot open" >&2; exit 1; }', 'left as it is'],
    ['prints nothing', '[ "$1" = -l ] && exit 0', 'left as it is'],
    ['refuses', '[ "$1" = - ] && { echo "bad minute" >&2; exit 1; }', 'the crontab is as it was'],
    ['keeps nothing', '[ "$1" = - ] && { cat >/dev/null; exit 0; }', 'the crontab is as it was'],
  ])('a crontab that %s loses no byte, and the loop has no schedule', async (_, fault, why) => {
    using project = await cronProject()
    project.setTable(others)
    project.fault(fault)
    const call = await project.call(['install-schedule', 'nightly'])
    expect(call.code).toBe(5)
    expect(call.stderr).toContain(`schedule not as asked (nightly, by cron)`)
    expect(call.stderr).toContain(why)
    expect(project.table()).toBe(others)
    expect(project.state().schedule).toEqual({ enabled: false, kind: null })
  })

  test('a crontab that loses lines gets the old table back', async () => {
    using project = await cronProject()
    project.setTable(others)
    const once =
      'f="$HOME/once"; [ "$1" = - ] && [ ! -f "$f" ] && { touch "$f"; head -c 20 >"$table"; exit 0; }'
    project.fault(once)
    expect((await project.call(['install-schedule', 'nightly'])).stderr).toContain('the old table is back')
    expect(project.table()).toBe(others)
    expect(readFileSync(join(project.loopDir, 'crontab.backup'), 'latin1')).toBe(others)
  })
})

test('a project that was moved takes its schedule along, and leaves no line behind', async () => {
  using project = await cronProject()
  await must(project.call(['install-schedule', 'nightly']))
  const moved = `${project.root}-moved`
  renameSync(project.root, moved)
  const call = (...args: string[]) => project.call([...args, '--project', moved], { cwd: moved })
  expect((await call('audit', '--json')).stdout).toContain('the schedule of loop nightly is missing')
  const warning = `its schedule was installed for ${project.root}; fix: automaton install-schedule nightly`
  expect((await call('status', '--json')).stdout).toContain(warning)
  await must(call('install-schedule', 'nightly'))
  expect((await call('status', '--json')).json()).toMatchObject({ loops: [{ warnings: [] }] })
  expect(project.table()?.trim().split('\n')).toEqual([expect.stringContaining(moved)])
  expect(existsSync(project.root)).toBe(false)
  expect(readdirSync(project.home).filter((name) => name.includes('backup'))).toEqual([])
  await must(call('uninstall-schedule', 'nightly'))
  expect(project.table()).toBeNull()
}, 60_000)

test.each([
  ['a loop', 'nope', []],
  ['a project', 'nightly', ['--project', '/nowhere-at-all']],
])('a scheduled tick of %s that is gone prints nothing', async (_, loop, more) => {
  using project = await cronProject()
  const tick = await project.call(['tick', loop, '--scheduled', ...more])
  expect([tick.code, tick.stdout, tick.stderr]).toEqual([2, '', ''])
})

describe('a schedule follows its loop', () => {
  test('off with a halt that its own tick found, on with the approval', async () => {
    using project = await cronProject(oneTick)
    project.setTable(others)
    await must(project.call(['install-schedule', 'nightly']))
    const scheduled = project.table()
    const tick = await project.asCron()
    expect(tick.code).toBe(4)
    expect(tick.stdout).toContain('iterations_exhausted')
    expect(project.table()).toBe(others)
    expect(project.state().schedule).toEqual({ enabled: false, kind: 'cron' })
    const { id } = project.state().halt
    await must(project.call(['approve', '--loop', 'nightly', '--halt', id]))
    expect(project.table()).toBe(scheduled)
    expect(project.state().schedule).toEqual({ enabled: true, kind: 'cron' })
    expect((await project.call(['audit', '--strict'])).stdout).not.toContain('schedule-unit')
  }, 60_000)

  test('off with a pause, on when it is resumed', async () => {
    using project = await cronProject()
    await must(project.call(['install-schedule', 'nightly']))
    await must(project.call(['pause-loop', 'nightly']))
    expect(project.table()).toBeNull()
    await must(project.call(['resume-loop', 'nightly']))
    expect(project.table()).toContain('automaton-loop:nightly')
  })

  test('off for a loop that is installed while it is paused', async () => {
    using project = await cronProject()
    await must(project.call(['pause-loop', 'nightly']))
    const installed = await must(project.call(['install-schedule', 'nightly', '--json']))
    expect(installed.json()).toMatchObject({ enabled: false })
    expect(project.table()).toBeNull()
    await must(project.call(['resume-loop', 'nightly']))
    expect(project.table()).toContain('automaton-loop:nightly')
  })

  test('off when the gate finds the halt, and when the loop is complete', async () => {
    using halts = await cronProject(oneTick)
    await must(halts.call(['install-schedule', 'nightly']))
    halts.configure({ brakes: { max_budget_usd: 0 } })
    expect((await halts.call(['check-gate', 'nightly'])).code).toBe(3)
    expect(halts.table()).toBeNull()
    using completes = await cronProject({
      createArgs: ['--task', 'fix-it'],
      scenario: { orchestrate: 'automaton transition "$AUTOMATON_TASK" complete' },
    })
    writeFileSync(join(completes.root, '.automaton', 'config.json'), '{"phases":["implement"]}')
    await must(completes.call(['install-schedule', 'nightly']))
    await completes.tick()
    expect(completes.state()).toMatchObject({
      status: 'complete',
      schedule: { enabled: false, kind: 'cron' },
    })
    expect(completes.table()).toBeNull()
    expect((await completes.call(['install-schedule', 'nightly'])).code).toBe(3)
    await must(completes.call(['uninstall-schedule', 'nightly']))
  }, 60_000)

  test('off when the halt is that of a recovery', async () => {
    using project = await cronProject({
      loop: { brakes: { max_consecutive_errors: 1 } },
      scenario: { implement: 'echo x > src/started; exec sleep 60' },
    })
    await must(project.call(['install-schedule', 'nightly']))
    const tick = Bun.spawn([project.scriptFile], {
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    const started = join(project.worktree, 'src', 'started')
    for (let left = 300; !existsSync(started) && left > 0; left--) await Bun.sleep(50)
    tick.kill('SIGKILL')
    await tick.exited
    const next = await project.asCron()
    expect([next.code, project.state().halt.detail]).toEqual([4, 'repeated_crash'])
    expect(project.table()).toBeNull()
    expect(project.state().schedule).toEqual({ enabled: false, kind: 'cron' })
  }, 60_000)

  test('a scheduler that fails changes nothing about the halt: it is said, noted, and put right by the next tick', async () => {
    using project = await cronProject(oneTick)
    await must(project.call(['install-schedule', 'nightly']))
    project.fault('[ "$1" = -l ] && { echo "cannot open" >&2; exit 1; }')
    const tick = await project.tick()
    expect(tick.code).toBe(4)
    expect(tick.stderr).toContain('the schedule could not be switched off')
    expect(project.state().status).toBe('halted')
    expect(project.scheduledLog()).toContain('could not be switched off')
    expect(project.table()).toContain('automaton-loop:nightly')
    project.fault('')
    const next = await project.asCron()
    expect([next.code, next.stdout, next.stderr]).toEqual([3, '', ''])
    expect(project.table()).toBeNull()
  }, 60_000)
})

describe('the tick script', () => {
  test('runs a tick with hardly any environment, its agent in a folder that only the person’s PATH has', async () => {
    using project = await cronProject()
    const manager = join(project.home, '.manager', 'v22', 'bin')
    const agent = readFileSync(join(import.meta.dir, '..', 'fixtures', 'bin', 'scripted-agent'), 'utf8')
    writeFiles(manager, { 'managed-agent': agent })
    chmodSync(join(manager, 'managed-agent'), 0o755)
    project.configure({ harness: { command: ['managed-agent', project.scenarioDir] } })
    const link = join(project.home, 'link')
    symlinkSync(project.root, link)
    const theirs = [
      `${project.root}/node_modules/.bin`,
      // What is not there yet, a session can make.
      `${link}/not-yet`,
      `${project.home}/..${project.root.slice(dirname(project.home).length)}/not-yet`,
      `${project.home}/other/.automaton/loops/nightly/worktree/bin`,
    ]
    const env = { PATH: [manager, 'relative', '', '.', ...theirs, project.env.PATH].join(':') }
    const installed = await must(project.call(['install-schedule', 'nightly', '--json'], { env }))
    for (const folder of theirs) {
      expect(installed.json().warnings).toContain(
        `left out of the PATH of scheduled ticks, since sessions can write there: ${folder}`,
      )
    }
    const folders = [manager, ...new Set(project.env.PATH?.split(':'))]
    expect(readFileSync(project.scriptFile, 'utf8')).toContain(`PATH=${folders.join(':')} `)
    const tick = await project.asCron()
    expect([tick.code, tick.stdout, tick.stderr]).toEqual([0, '', ''])
    expect(project.state().iteration_count).toBe(1)
    const again = await project.asCron()
    expect([again.code, again.stdout, again.stderr]).toEqual([0, '', ''])
    expect(project.state().iteration_count).toBe(1)
    expect(project.scheduledLog()).toBe('')
  }, 60_000)

  test('lets nothing through that loads code, and what harness.env names', async () => {
    using project = await cronProject({
      loop: { harness: { env: ['MY_KEY', 'BUN_OPTIONS', 'LD_PRELOAD'] } },
      scenario: {
        implement: 'echo "key:$MY_KEY other:$OTHER" > "$AUTOMATON_OUTPUT"; echo x >> src/work.txt',
      },
    })
    await must(project.call(['install-schedule', 'nightly']))
    const script = readFileSync(project.scriptFile, 'utf8')
    expect(script).not.toContain('BUN_OPTIONS')
    const env = { MY_KEY: 'a b $c', OTHER: 'x', BUN_OPTIONS: '--preload /nowhere.ts', PATH: '/usr/bin:/bin' }
    const tick = Bun.spawnSync([project.scriptFile], { env, cwd: '/' })
    expect([tick.exitCode, tick.stdout.toString(), tick.stderr.toString()]).toEqual([0, '', ''])
    const artifact = join(project.loopDir, 'outputs', 'tick1-implement.md')
    expect(readFileSync(artifact, 'utf8')).toBe('key:a b $c other:\n')
  }, 60_000)

  test('whose program has moved notes it once, prints nothing, and status and doctor say so', async () => {
    using project = await cronProject()
    const moved = join(project.home, 'bin', 'automaton')
    cpSync(binary, moved)
    const install = Bun.spawnSync([moved, 'install-schedule', 'nightly'], {
      cwd: project.root,
      env: { ...project.env, HOME: project.home, AUTOMATON_HOME: join(project.home, '.automaton') },
    })
    expect(install.exitCode).toBe(0)
    rmSync(moved)
    for (let i = 0; i < 2; i++) {
      const tick = await project.asCron()
      expect([tick.code, tick.stdout, tick.stderr]).toEqual([127, '', ''])
    }
    expect(project.scheduledLog()).toMatch(
      /^\S+Z the program is no longer at \S+; fix: automaton install-schedule nightly\n$/,
    )
    expect((await project.call(['status', 'nightly', '--json'])).stdout).toContain(
      'the program is no longer at',
    )
    const doctor = await project.call(['doctor', '--json'])
    expect(doctor.code).toBe(3)
    expect(doctor.stdout).toContain(`starts ${moved}, which is gone`)
    expect((await project.call(['audit', '--json'])).stdout).toContain('schedule-unit')
    await must(project.call(['install-schedule', 'nightly']))
    expect((await project.asCron()).code).toBe(0)
  }, 60_000)

  test('starts no program out of a worktree', async () => {
    using project = await cronProject()
    const planted = join(project.worktree, 'bin', 'automaton')
    cpSync(binary, planted)
    const install = [planted, 'install-schedule', 'nightly']
    const env = callEnv({ cwd: project.root, home: project.home, env: project.env })
    const { exitCode, stderr } = Bun.spawnSync(install, { cwd: project.root, env })
    expect([exitCode, `${stderr}`]).toEqual([2, expect.stringContaining('lies in the worktree of a loop')])
    expect([project.table(), existsSync(project.scriptFile)]).toEqual([null, false])
  }, 60_000)

  test('that a session changed is tampering, and one that anybody changed is found', async () => {
    using project = await cronProject({
      scenario: {
        implement:
          'echo "# mine" >> ../automaton-loop-tick.sh; echo x >> src/work.txt; echo done > "$AUTOMATON_OUTPUT"',
      },
    })
    await must(project.call(['install-schedule', 'nightly']))
    const tick = await project.tick()
    expect(tick.code).toBe(6)
    expect(project.state().halt.detail).toBe('tamper:tick script')
    const approved = await must(
      project.call(['approve', '--loop', 'nightly', '--halt', project.state().halt.id]),
    )
    // Until a person writes it anew, nothing calls what the session left there.
    expect(approved.stderr).toContain('could not be switched on')
    expect(project.table()).toBeNull()
    expect((await project.call(['status', '--json'])).stdout).toContain(
      'its tick script is not as it was installed; fix: automaton install-schedule nightly',
    )
    expect((await project.call(['doctor', '--json'])).stdout).toContain(
      'its tick script is not as it was installed',
    )
    await must(project.call(['install-schedule', 'nightly']))
    expect(project.table()).toContain('# automaton-loop:nightly:')
    expect((await project.call(['audit'])).stdout).not.toContain('schedule-unit')
    writeFileSync(project.scriptFile, '#!/bin/sh\n')
    expect((await project.call(['audit', '--json'])).stdout).toContain(
      'its tick script is not as it was installed',
    )
  }, 60_000)
})
