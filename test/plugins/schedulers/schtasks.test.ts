import { expect, test } from 'bun:test'
import schtasks from '../../../plugins/schedulers/schtasks.ts'
import { projectHash, type Unit } from '../../../src/api/index.ts'
import { createHost } from '../../../src/plugin/host.ts'
import { schtasksMachine } from './schtasks-machine.ts'

const open = () => createHost({ builtins: [schtasks], log() {} }).scheduler('schtasks', {})
const unit: Unit = {
  loop: 'nightly',
  project: 'C:\\Users\\pat\\My Übung (1)',
  script: 'C:\\Users\\pat\\My Übung (1)\\.automaton\\loops\\nightly\\automaton-loop-tick.cmd',
  intervalSeconds: 3600,
}
const name = '\\Automaton\\my-bung-1-nightly'

test('a task is registered for the user, by a file that is gone after it', async () => {
  const { context, files, tasks, calls } = schtasksMachine()
  const scheduler = await open()
  await scheduler.install(unit, context)
  expect([...tasks.keys()]).toEqual([name])
  expect(tasks.get(name)).toContain('<UserId>S-1-5-21-1-2-3-1001</UserId>')
  expect([...files.keys()]).toEqual([])
  expect(calls.find((call) => call.includes('/Create'))).toEndWith(`/TN ${name} /XML ${unit.script}.xml /F`)
  expect(await scheduler.inspect(unit, context)).toEqual({ installed: true, enabled: true, drift: [] })
})

test('where whoami is another program, Windows chooses the user', async () => {
  const { context, tasks } = schtasksMachine()
  const run: typeof context.run = async (argv, options) =>
    argv[0] === 'whoami' ? context.run(['schtasks', '/Query', '/TN', 'none']) : context.run(argv, options)
  await (await open()).install(unit, { ...context, run })
  expect(tasks.get(name)).not.toContain('<UserId>')
})

test('a task of another project keeps its name', async () => {
  const { context, tasks } = schtasksMachine()
  const scheduler = await open()
  const other = { ...unit, project: 'D:\\my bung 1', script: 'D:\\my bung 1\\tick.cmd' }
  await scheduler.install(other, context)
  const before = tasks.get(name)
  await scheduler.install(unit, context)
  const longName = `${name}-${projectHash(unit.project)}`
  expect([...tasks.keys()]).toEqual([name, longName])
  expect(tasks.get(name)).toBe(before ?? '')
  await scheduler.remove(other, context)
  await scheduler.disable(unit, context)
  await scheduler.enable(unit, context)
  expect([...tasks.keys()]).toEqual([longName])
  expect(await scheduler.inspect(unit, context)).toMatchObject({ installed: true, enabled: true, drift: [] })
})

test('what a person changed is found, and enable writes the task again', async () => {
  const { context, tasks } = schtasksMachine()
  const scheduler = await open()
  await scheduler.install(unit, context)
  const changed = tasks.get(name)?.replace(/<StopIfGoingOnBatteries>false/, '<StopIfGoingOnBatteries>true')
  tasks.set(name, changed ?? '')
  expect((await scheduler.inspect(unit, context)).drift).toEqual([
    'Settings/StopIfGoingOnBatteries is "true", and not "false"',
  ])
  await scheduler.enable(unit, context)
  expect((await scheduler.inspect(unit, context)).drift).toEqual([])
})

test('a task that cannot be read is nobody’s of ours, and is left alone', async () => {
  const { context, tasks } = schtasksMachine()
  const scheduler = await open()
  tasks.set(name, '<Task')
  await scheduler.install(unit, context)
  await scheduler.remove(unit, context)
  expect([...tasks]).toEqual([[name, '<Task']])
})

test('what schtasks says is in the error, and its file is gone all the same', async () => {
  const { context, files } = schtasksMachine()
  const run: typeof context.run = async (argv, options) =>
    argv.includes('/Create') ? context.run(['schtasks', '/Query', '/TN', 'none']) : context.run(argv, options)
  await expect((await open()).install(unit, { ...context, run })).rejects.toThrow('cannot find the file')
  expect([...files.keys()]).toEqual([])
})
