import { afterAll, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { binary, callEnv } from '../helpers/cli.ts'
import { makeProject, must } from '../helpers/project.ts'
import { startUserManager } from '../helpers/user-manager.ts'

const project = await makeProject({
  folder: 'a repo 100% $mine "x"',
  loop: { brakes: { max_iterations: 1 } },
})
const manager = await startUserManager(project.home)

afterAll(async () => {
  if ('enter' in manager) await manager[Symbol.asyncDispose]()
  project[Symbol.dispose]()
})

const name =
  'a user’s systemd runs a loop’s tick to a halt; its timer is off then, and on again after the approval'
if ('missing' in manager) test.skip(`${name} (skipped: ${manager.missing})`, runsToHalt)
else test(name, runsToHalt, 120_000)

/** Runs a program where this systemd is found, with a test's clean environment. */
function run(...argv: string[]): { code: number; stdout: string } {
  const enter = 'enter' in manager ? manager.enter : []
  const env = callEnv({ cwd: project.root, home: project.home })
  const done = Bun.spawnSync([...enter, ...argv], { env, stdin: 'ignore' })
  return { code: done.exitCode, stdout: `${done.stdout}${done.stderr}` }
}

const automaton = (...args: string[]) => run(binary, ...args, '--project', project.root)

async function runsToHalt(): Promise<void> {
  const installed = automaton('install-schedule', 'nightly', '--scheduler', 'systemd', '--json')
  expect(JSON.parse(installed.stdout)).toMatchObject({
    schema: 1,
    scheduler: 'systemd',
    enabled: true,
    warnings: [],
  })
  const folder = join(project.home, '.config/systemd/user')
  const timer = readdirSync(folder).find((file) => file.endsWith('.timer')) ?? ''
  const isEnabled = () => run('systemctl', '--user', 'is-enabled', timer).stdout.trim()
  expect(isEnabled()).toBe('enabled')

  // The service that the timer starts; the call waits for its end.
  expect(run('systemctl', '--user', 'start', timer.replace('.timer', '.service'))).toEqual({
    code: 0,
    stdout: '',
  })
  const { iteration_count, halt, schedule } = project.state()
  expect({ iteration_count, reason: halt?.reason, schedule }).toEqual({
    iteration_count: 1,
    reason: 'iterations_exhausted',
    schedule: { enabled: false, kind: 'systemd' },
  })
  expect(isEnabled()).toBe('disabled')
  expect(existsSync(join(project.loopDir, 'scheduled.log'))).toBe(false)

  expect(automaton('approve', '--loop', 'nightly', '--halt', halt.id).code).toBe(0)
  expect(isEnabled()).toBe('enabled')
  expect(automaton('uninstall-schedule', 'nightly').code).toBe(0)
  expect(
    readdirSync(folder, { recursive: true }).filter((file) => String(file).includes('automaton')),
  ).toEqual([])
  await must(project.call(['status', 'nightly']))
}
