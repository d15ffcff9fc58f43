import { expect, test } from 'bun:test'
import launchd from '../../../plugins/schedulers/launchd.ts'
import { projectHash, type Unit } from '../../../src/api/index.ts'
import { createHost } from '../../../src/plugin/host.ts'
import { launchdMachine } from './launchd-machine.ts'

const open = () => createHost({ builtins: [launchd], log() {} }).scheduler('launchd', {})
const unit: Unit = {
  loop: 'nightly',
  project: '/p',
  script: '/p/loops/nightly/tick.sh',
  intervalSeconds: 3600,
}
const folder = '/Users/pat/Library/LaunchAgents'
const label = 'com.automaton.loop.nightly'
const path = `${folder}/${label}.plist`

test('an agent is loaded into the user’s login, whatever was switched off and though launchd is busy', async () => {
  const { context, files, loaded, off, calls } = launchdMachine()
  const scheduler = await open()
  off.add(label)
  await scheduler.install(unit, context)
  expect(calls).toContain(`launchctl bootstrap gui/501 ${path}`)
  await scheduler.install({ ...unit, intervalSeconds: 600 }, context)
  expect([...loaded]).toEqual([[label, String(files.get(path))]])
  expect(loaded.get(label)).toContain('<integer>10</integer>')
})

test('a halt in a tick takes the file away and leaves the agent loaded; the next enable finds it so', async () => {
  const { context, files, loaded, calls } = launchdMachine()
  const scheduler = await open()
  await scheduler.install(unit, context)
  await scheduler.disable(unit, { ...context, fromTick: true })
  expect([...files.keys()]).toEqual([`${path}.disabled`])
  expect([...loaded.keys()]).toEqual([label])
  expect(await scheduler.inspect(unit, context)).toMatchObject({ installed: true, enabled: false, drift: [] })
  calls.length = 0
  await scheduler.enable(unit, context)
  expect([...files.keys()]).toEqual([path])
  expect(calls.filter((call) => /bootout|bootstrap/.test(call))).toEqual([])
  expect(await scheduler.inspect(unit, context)).toMatchObject({ installed: true, enabled: true })
})

test('a pause outside of a tick unloads the agent, and a resume loads it', async () => {
  const { context, files, loaded } = launchdMachine()
  const scheduler = await open()
  await scheduler.install(unit, context)
  await scheduler.disable(unit, context)
  expect([...files.keys(), ...loaded.keys()]).toEqual([`${path}.disabled`])
  await scheduler.enable(unit, context)
  expect([...files.keys(), ...loaded.keys()]).toEqual([path, label])
})

test('nothing that is done from the unit’s own run unloads it', async () => {
  for (const verb of ['install', 'enable', 'disable', 'remove'] as const) {
    const { context, calls } = launchdMachine()
    const scheduler = await open()
    await scheduler.install(unit, context)
    await scheduler[verb]({ ...unit, intervalSeconds: 600 }, { ...context, fromTick: true })
    expect(calls.filter((call) => call.includes('bootout'))).toEqual([])
  }
})

test('an agent of another project keeps its name and its file, switched off or not', async () => {
  const other = { ...unit, project: '/other', script: '/other/tick.sh' }
  for (const off of [false, true]) {
    const { context, files } = launchdMachine()
    const scheduler = await open()
    await scheduler.install(other, context)
    if (off) await scheduler.disable(other, context)
    const before = [...files]
    const longPath = `${folder}/${label}.${projectHash('/p')}.plist`
    await scheduler.install(unit, context)
    expect([...files]).toEqual([...before, [longPath, files.get(longPath) ?? '']])
    await scheduler.remove(other, context)
    await scheduler.disable(unit, context)
    await scheduler.enable(unit, context)
    expect([...files.keys()]).toEqual([longPath])
  }
})

test('what a person changed, unloaded or switched off is found', async () => {
  const { context, files, loaded, off } = launchdMachine()
  const scheduler = await open()
  await scheduler.install(unit, context)
  const text = String(files.get(path))
  files.set(path, text.replace('<string>/p/loops/nightly/tick.sh</string>', '<string>/evil</string>'))
  expect((await scheduler.inspect(unit, context)).drift).toEqual([
    `${path}: ProgramArguments is ["/evil"], and not ["/p/loops/nightly/tick.sh"]`,
  ])
  files.set(path, text)
  off.add(label)
  expect(await scheduler.inspect(unit, context)).toMatchObject({ installed: true, enabled: false, drift: [] })
  off.clear()
  loaded.clear()
  expect(await scheduler.inspect(unit, context)).toMatchObject({ installed: true, enabled: false, drift: [] })
})

test('a project in a folder that macOS guards gets a warning', async () => {
  const scheduler = await open()
  for (const [project, warned] of [
    ['/Users/pat/Documents/work', true],
    ['/Users/pat/Documents', true],
    ['/Users/pat/Documents2', false],
    ['/Users/pat/src/Documents', false],
  ] as const) {
    const { context } = launchdMachine()
    const at = { ...unit, project, script: `${project}/tick.sh` }
    await scheduler.install(at, context)
    const { warnings } = await scheduler.inspect(at, context)
    expect(warnings?.some((line) => line.includes('Full Disk Access'))).toBe(warned)
  }
})

test('what launchctl says is in the error', async () => {
  const scheduler = await open()
  const elsewhere = launchdMachine({ user: 502 })
  await expect(scheduler.install(unit, elsewhere.context)).rejects.toThrow(
    'Domain does not support specified action; log in at the screen once',
  )
  await expect(scheduler.install(unit, launchdMachine({ user: null }).context)).rejects.toThrow('number')
})
