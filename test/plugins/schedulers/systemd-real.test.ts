import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import systemd from '../../../plugins/schedulers/systemd.ts'
import { systemdUnits } from '../../../plugins/schedulers/systemd-units.ts'
import type { SchedulerContext, Unit } from '../../../src/api/index.ts'
import { schedulerChecks } from '../../../src/plugin/contract/scheduler.ts'
import { createHost } from '../../../src/plugin/host.ts'
import { schedulerContext } from '../../../src/runner/scheduler-tools.ts'
import { tempDir } from '../../helpers/temp.ts'
import { startUserManager } from '../../helpers/user-manager.ts'
import { hostilePaths } from './machine.ts'

const dir = tempDir('automaton test $HOME %h ')
const home = join(dir.path, 'home')
mkdirSync(home)
const manager = await startUserManager(home)
const enter = 'enter' in manager ? manager.enter : []

afterAll(async () => {
  if ('enter' in manager) await manager[Symbol.asyncDispose]()
  dir[Symbol.dispose]()
})

/** Runs where a user's systemd could be started, and says in its name why not elsewhere. */
const real = (name: string, run: () => Promise<void>) =>
  'missing' in manager ? test.skip(`${name} (skipped: ${manager.missing})`, run) : test(name, run, 60_000)

const host = createHost({ builtins: [systemd], log() {} })
const context = ((): SchedulerContext => {
  const machine = { project: { root: dir.path }, env: { PATH: process.env.PATH, HOME: home } }
  const made = schedulerContext(
    { loop: 'nightly', fromTick: false },
    { ...machine, progress() {}, signal: new AbortController().signal },
  )
  return { ...made, home, user: 0, run: (argv, options) => made.run([...enter, ...argv], options) }
})()

function systemctl(...args: string[]): string {
  const { stdout, stderr } = Bun.spawnSync([...enter, 'systemctl', '--user', ...args])
  return `${stdout}${stderr}`.trim()
}

/** A loop's unit whose script is this. */
function scripted(path: string, ...lines: string[]): Unit {
  const project = join(dir.path, path)
  mkdirSync(project, { recursive: true })
  const script = join(project, 'tick.sh')
  writeFileSync(script, ['#!/bin/sh', 'cd "$(dirname "$0")" || exit', ...lines, ''].join('\n'), {
    mode: 0o700,
  })
  return { loop: 'nightly', project, script, intervalSeconds: 60 }
}

async function until(condition: () => boolean): Promise<void> {
  for (const limit = Date.now() + 20_000; !condition(); await Bun.sleep(20)) {
    if (Date.now() > limit) throw new Error('it did not happen in time')
  }
}

for (const [i, { name }] of schedulerChecks({ host, name: 'systemd', options: {}, context }).entries()) {
  real(`a real systemd: ${name}`, async () => {
    await schedulerChecks({ host, name: 'systemd', options: {}, context })[i]?.run()
  })
}

real(
  'a real systemd runs a script whatever its path is, and nothing is left when its unit is removed',
  async () => {
    const scheduler = await host.scheduler('systemd', {})
    const unit = scripted(hostilePaths.join(''), 'printf %s "$0" >ran')
    await scheduler.install(unit, context)
    expect(systemctl('start', `${systemdUnits(unit).name}.service`)).toBe('')
    expect(readFileSync(join(unit.project, 'ran'), 'utf8')).toBe(unit.script)
    await scheduler.remove(unit, context)
    const left = readdirSync(join(home, '.config/systemd/user'), { recursive: true })
    expect(left.filter((name) => name !== 'timers.target.wants')).toEqual([])
    expect(readdirSync(join(home, '.local/share/systemd/timers'))).toEqual([])
  },
)

real('the timer makes up for what was missed while nothing ran, in one run', async () => {
  const scheduler = await host.scheduler('systemd', {})
  const unit = scripted('missed', 'echo ran >>runs')
  const stamps = join(home, '.local/share/systemd/timers')
  mkdirSync(stamps, { recursive: true })
  const stamp = join(stamps, `stamp-${systemdUnits(unit).name}.timer`)
  const yesterday = Date.now() / 1000 - 86_400
  writeFileSync(stamp, '')
  utimesSync(stamp, yesterday, yesterday)
  await scheduler.install(unit, context)
  await until(() => existsSync(join(unit.project, 'runs')))
  await scheduler.remove(unit, context)
  expect(readFileSync(join(unit.project, 'runs'), 'utf8')).toMatch(/^ran\n(?:ran\n)?$/)
})

real('what a tick leaves running ends with it', async () => {
  const scheduler = await host.scheduler('systemd', {})
  const unit = scripted(
    'left',
    'setsid sh -c "echo \\$\\$ >pid.new; mv pid.new pid; exec sleep 300" &',
    'until [ -e pid ]; do :; done',
  )
  await scheduler.install(unit, context)
  expect(systemctl('start', `${systemdUnits(unit).name}.service`)).toBe('')
  const pid = readFileSync(join(unit.project, 'pid'), 'utf8').trim()
  expect(Bun.spawnSync([...enter, 'kill', '-0', pid]).exitCode).not.toBe(0)
  await scheduler.remove(unit, context)
})

real('a tick that runs while its loop is disabled goes on to its end', async () => {
  const scheduler = await host.scheduler('systemd', {})
  const unit = scripted('busy', 'echo >started', 'until [ -e go ]; do sleep 0.05; done', 'echo >done')
  const service = `${systemdUnits(unit).name}.service`
  await scheduler.install(unit, context)
  systemctl('start', '--no-block', service)
  await until(() => existsSync(join(unit.project, 'started')))
  await scheduler.disable(unit, { ...context, fromTick: true })
  expect(systemctl('is-active', service)).toBe('activating')
  writeFileSync(join(unit.project, 'go'), '')
  await until(() => existsSync(join(unit.project, 'done')))
  await until(() => systemctl('is-active', service) === 'inactive')
  await scheduler.remove(unit, context)
})
