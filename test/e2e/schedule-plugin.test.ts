import { expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pluginProject, pluginText } from '../helpers/plugins.ts'
import { must } from '../helpers/project.ts'
import { cronProject } from './schedule-kit.ts'

/** Keeps the unit in a file through the context, and writes down each call. */
const scheduler = pluginText(
  'dispatcher',
  'scheduler',
  `install: (unit, ctx) => put(unit, ctx, 'install', 'on'),
   enable: (unit, ctx) => put(unit, ctx, 'enable', 'on'),
   disable: (unit, ctx) => put(unit, ctx, 'disable', 'off'),
   remove: async (unit, ctx) => { await note(ctx, 'remove'); await ctx.removeFile(fileOf(ctx)) },
   async inspect(unit, ctx) {
     const text = await ctx.readFile(fileOf(ctx))
     const wanted = unit.script + ' ' + unit.intervalSeconds
     if (text === null) return { installed: false, enabled: false, drift: [] }
     const [state, ...rest] = text.split(' ')
     return { installed: true, enabled: state === 'on', drift: rest.join(' ') === wanted ? [] : ['it says ' + text] }
   },`,
  `const fileOf = (ctx) => ctx.home + '/dispatch'
   async function note(ctx, what) {
     const { stdout } = await ctx.run(['sh', '-c', 'echo $LC_ALL'])
     const before = (await ctx.readFile(ctx.home + '/calls')) ?? ''
     await ctx.writeFile(ctx.home + '/calls', before + [what, ctx.loop, ctx.fromTick, stdout].join(' '))
   }
   async function put(unit, ctx, what, state) {
     await note(ctx, what)
     await ctx.writeFile(fileOf(ctx), [state, unit.script, unit.intervalSeconds].join(' '))
   }`,
)

test('a user’s scheduler is installed, told of halts and approvals, and can be left for another', async () => {
  using project = await pluginProject({
    plugins: { 'dispatcher.ts': scheduler },
    trusted: ['dispatcher'],
    loop: { brakes: { max_iterations: 1 } },
  })
  const unit = () => {
    const file = join(project.home, 'dispatch')
    return existsSync(file) ? readFileSync(file, 'utf8').split(' ')[0] : null
  }
  const install = ['install-schedule', 'nightly', '--interval', '120', '--scheduler', 'dispatcher', '--json']
  expect((await must(project.call(install))).json()).toMatchObject({ scheduler: 'dispatcher', enabled: true })
  expect((await must(project.call(install))).json().changed).toEqual([])
  expect(project.state().schedule).toEqual({ enabled: true, kind: 'dispatcher' })
  expect(unit()).toBe('on')
  expect((await project.tick('--scheduled')).code).toBe(4)
  expect(unit()).toBe('off')
  await must(project.call(['approve', '--loop', 'nightly', '--halt', project.state().halt.id]))
  expect(unit()).toBe('on')
  expect((await project.call(['audit', '--json'])).stdout).not.toContain('schedule-unit')
  writeFileSync(join(project.home, 'dispatch'), 'on /elsewhere 120')
  expect((await project.call(['audit', '--json'])).stdout).toContain('it says on /elsewhere 120')
  await must(project.call(['uninstall-schedule', 'nightly']))
  expect(unit()).toBeNull()
  expect(readFileSync(join(project.home, 'calls'), 'utf8')).toBe(
    [
      'install nightly false C',
      'disable nightly true C',
      'enable nightly false C',
      'remove nightly false C',
      '',
    ].join('\n'),
  )
}, 90_000)

test('two loops whose schedules change at once both keep their lines', async () => {
  using project = await cronProject()
  project.setTable('0 5 * * * backup\n')
  for (const loop of ['a', 'b', 'c'])
    await must(project.call(['create-loop', loop, '--from-template', 'backlog']))
  // A crontab that takes its time makes every overlap show.
  project.fault('sleep 0.1')
  const all = (verb: string) =>
    Promise.all(['nightly', 'a', 'b', 'c'].map((loop) => must(project.call([verb, loop]))))
  await all('install-schedule')
  expect(project.table()?.match(/# automaton-loop:/g)).toHaveLength(4)
  await all('pause-loop')
  expect(project.table()).toBe('0 5 * * * backup\n')
}, 90_000)

test('a loop is not bound for ever to a scheduler whose plugin is gone', async () => {
  const files = { 'dispatcher.ts': scheduler, 'other.ts': scheduler.replace("'dispatcher'", "'other'") }
  using project = await pluginProject({ plugins: files, trusted: ['dispatcher', 'other'] })
  const install = (name: string) =>
    project.call(['install-schedule', 'nightly', '--scheduler', name, '--json'])
  await must(install('dispatcher'))
  rmSync(join(project.plugins, 'dispatcher.ts'))
  const warnings = [expect.stringContaining('that plugin is gone, and only it can remove it')]
  expect((await must(install('other'))).json()).toMatchObject({ scheduler: 'other', warnings })
  expect(project.state().schedule.kind).toBe('other')
  rmSync(join(project.plugins, 'other.ts'))
  const gone = await must(project.call(['uninstall-schedule', 'nightly', '--json']))
  expect(gone.json()).toMatchObject({ removed: [expect.stringContaining('automaton-loop-tick')], warnings })
  expect(project.state().schedule.kind).toBeNull()
})
