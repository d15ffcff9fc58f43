import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../crash/needs.ts'
import { binary, callEnv } from '../helpers/cli.ts'
import { makeProject, must, type TestProject } from '../helpers/project.ts'

const starter = join(import.meta.dir, '..', 'fixtures', 'cron', 'private-cron')
const isRoot = process.getuid?.() === 0

const name = 'Debian’s cron runs a loop’s ticks to a halt; its line is gone then, and back after the approval'
if (isRoot) needs('cron', 'crontab', 'faketime', 'unshare', 'nsenter')(name, runsToHalt, 120_000)
else test.skip(`${name} (skipped: only root has mount namespaces and tables of its own)`, runsToHalt)

/** Processes of the test's own mount namespace, in which cron and its tables are nobody else's. */
interface PrivateCron extends AsyncDisposable {
  run(argv: string[]): { code: number; stdout: string }
}

async function privateCron(project: TestProject): Promise<PrivateCron> {
  const cron = Bun.spawn(['unshare', '-m', '--propagation', 'private', starter], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const run: PrivateCron['run'] = (argv) => {
    const command = ['nsenter', '-t', String(cron.pid), '-m', `--wd=${project.root}`, '--', ...argv]
    const env = callEnv({ cwd: project.root, home: project.home })
    const done = Bun.spawnSync(command, { env, stdin: 'ignore', stderr: 'inherit' })
    return { code: done.exitCode, stdout: done.stdout.toString() }
  }
  await until(() => run(['test', '-s', '/run/crond.pid']).code === 0)
  return {
    run,
    async [Symbol.asyncDispose]() {
      cron.kill('SIGKILL')
      await cron.exited
    },
  }
}

async function until(holds: () => boolean, seconds = 60): Promise<void> {
  for (const end = performance.now() + seconds * 1000; !holds(); await Bun.sleep(100)) {
    if (performance.now() > end) throw new Error(`it did not come within ${seconds} s: ${holds}`)
  }
}

async function runsToHalt(): Promise<void> {
  using project = await makeProject({
    folder: 'a repo 100% mine',
    loop: { brakes: { max_iterations: 2 } },
  })
  await using cron = await privateCron(project)
  const table = () => cron.run(['crontab', '-l'])
  const others = '# mine\n0 5 * * * echo 100\\%\n'
  expect(cron.run(['sh', '-c', `printf '%s' '${others}' | crontab -`]).code).toBe(0)
  const installed = cron.run([binary, 'install-schedule', 'nightly', '--interval', '60', '--json'])
  expect(installed.code).toBe(0)
  expect(JSON.parse(installed.stdout)).toMatchObject({ scheduler: 'cron', enabled: true, warnings: [] })
  const scheduled = table().stdout
  expect(scheduled).toStartWith(others)

  // cron calls every second; a loop of one minute is due after half a minute, and every call before that is skipped.
  await until(() => project.state().status === 'halted')
  const { iteration_count, halt, schedule } = project.state()
  expect({ iteration_count, reason: halt.reason, schedule }).toEqual({
    iteration_count: 2,
    reason: 'iterations_exhausted',
    schedule: { enabled: false, kind: 'cron' },
  })
  await until(() => table().stdout === others, 10)
  const ticks = project.log().filter(({ type }) => type === 'tick')
  expect(Date.parse(ticks[1].at) - Date.parse(ticks[0].at)).toBeGreaterThan(25_000)
  expect(existsSync(join(project.loopDir, 'scheduled.log'))).toBe(false)

  expect(cron.run([binary, 'approve', '--loop', 'nightly', '--halt', halt.id]).code).toBe(0)
  expect(table().stdout).toBe(scheduled)
  await must(project.call(['status', 'nightly']))
  expect(cron.run([binary, 'uninstall-schedule', 'nightly']).code).toBe(0)
  expect(table().stdout).toBe(others)
}
