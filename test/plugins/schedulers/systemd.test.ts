import { expect, test } from 'bun:test'
import systemd from '../../../plugins/schedulers/systemd.ts'
import { systemdUnits } from '../../../plugins/schedulers/systemd-units.ts'
import type { SchedulerContext, Unit } from '../../../src/api/index.ts'
import { createHost } from '../../../src/plugin/host.ts'
import { machine } from './machine.ts'
import { systemdMachine } from './systemd-machine.ts'

const open = () => createHost({ builtins: [systemd], log() {} }).scheduler('systemd', {})
const unit: Unit = { loop: 'nightly', project: '/p', script: '/p/tick.sh', intervalSeconds: 3600 }

test('the timer’s units lie where the user’s systemd looks, and a second install writes nothing', async () => {
  const folder = '/home/pat/my config/systemd/user'
  const { context, files, calls } = systemdMachine({ folder })
  const scheduler = await open()
  // systemctl puts a path with spaces in quotes.
  const run: SchedulerContext['run'] = async (argv, options) => {
    const result = await context.run(argv, options)
    return { ...result, stdout: result.stdout.replaceAll(/(\/home\S* \S*)/g, '"$1"') }
  }
  await scheduler.install(unit, { ...context, run })
  const { name } = systemdUnits(unit)
  expect([...files.keys()]).toEqual([`${folder}/${name}.service`, `${folder}/${name}.timer`])
  files.clear = () => expect.unreachable()
  calls.length = 0
  await scheduler.install(unit, { ...context, run, writeFile: async () => expect.unreachable() })
  expect(calls.filter((call) => call.includes('reload'))).toEqual([])
})

test('every program is told where the user’s systemd listens, as a tick’s environment does not', async () => {
  const { context } = systemdMachine()
  const seen: unknown[] = []
  const run: SchedulerContext['run'] = (argv, options) => {
    if (argv[0] === 'systemctl') seen.push(options?.env)
    return context.run(argv, options)
  }
  await (await open()).install(unit, { ...context, run })
  expect(seen.length).toBeGreaterThan(0)
  expect(new Set(seen.map((env) => JSON.stringify(env)))).toEqual(
    new Set(['{"XDG_RUNTIME_DIR":"/run/user/1000"}']),
  )
})

test('a unit that a person changed is named with what changed', async () => {
  const { context, files } = systemdMachine()
  const scheduler = await open()
  await scheduler.install(unit, context)
  const [service = '', timer = ''] = files.keys()
  files.set(service, String(files.get(service)).replace('/p/tick.sh', '/tmp/evil.sh'))
  files.set(timer, `${files.get(timer)}# a remark\n`)
  expect((await scheduler.inspect(unit, context)).drift).toEqual([
    `${service}: Service.ExecStart is "/bin/sh \\"/tmp/evil.sh\\"", and not "/bin/sh \\"/p/tick.sh\\""`,
    'systemd has not read the files since they were changed',
  ])
  files.delete(service)
  expect((await scheduler.inspect(unit, context)).drift).toContain(`${service}: it is missing`)
  await scheduler.install(unit, context)
  expect(await scheduler.inspect(unit, context)).toMatchObject({ enabled: true, drift: [] })
})

test('a user whose timers stop at logout is told so, and how to keep them', async () => {
  const warning = 'timers stop when you log out: loginctl enable-linger keeps them'
  const scheduler = await open()
  for (const [linger, warnings] of [
    ['no\n', [warning]],
    ['yes\n', []],
    [undefined, []],
  ] as const) {
    const { context } = systemdMachine(linger === undefined ? {} : { linger })
    await scheduler.install(unit, context)
    expect((await scheduler.inspect(unit, context)).warnings).toEqual([...warnings])
  }
})

test('what systemctl says is in the error', async () => {
  const systemctl = () => ({ failed: 1, says: 'Failed to connect to bus: No medium found' })
  const scheduler = await open()
  const { context } = machine({ systemctl })
  await expect(scheduler.install(unit, context)).rejects.toThrow('Failed to connect to bus: No medium found')
  await expect(scheduler.install(unit, machine({}).context)).rejects.toThrow('systemctl is in no folder')
})

test('where no systemd runs for the user, the files are taken away, and what they left', async () => {
  const { context, files } = systemdMachine()
  const scheduler = await open()
  await scheduler.install(unit, context)
  const { name } = systemdUnits(unit)
  for (const left of ['.config/systemd/user/timers.target.wants/', '.local/share/systemd/timers/stamp-']) {
    files.set(`/home/pat/${left}${name}.timer`, '')
  }
  const systemctl = () => ({ failed: 1, says: 'Failed to connect to bus: No medium found' })
  await scheduler.remove(unit, machine({ systemctl }, files).context)
  expect([...files.keys()]).toEqual([])
})
