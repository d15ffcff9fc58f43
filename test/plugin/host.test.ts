import { describe, expect, test } from 'bun:test'
import * as v from 'valibot'
import { definePlugin, type Hooks, type Plugin, type PluginRoles } from '../../src/api/index.ts'
import { createHost, type LoadedPlugin } from '../../src/plugin/host.ts'
import { sourceContext } from '../contract/source.ts'
import { failureOf, hostOf, plugin, wrong } from './fake.ts'

describe('setup', () => {
  const schema = v.object({ file: v.string() })
  const withOptions = definePlugin({
    name: 'x',
    api: 1,
    options: schema,
    setup: ({ options }) => ({ source: { find: () => [{ task: options.file }] } }),
  })

  test('gets the options that the schema let through', async () => {
    expect(await hostOf(withOptions).find('x', { file: 'a' }, sourceContext())).toEqual([{ task: 'a' }])
  })

  test('bad options are named with plugin, stage and place', async () => {
    const error = await failureOf(hostOf(withOptions).source('x', { file: 5 }))
    expect(error.message).toStartWith('plugin "x" failed in options: options.file is 5: ')
    expect((await failureOf(hostOf(withOptions).source('x'))).message).toEndWith('options.file is missing')
  })

  test('a plugin without options takes none', async () => {
    const error = await failureOf(hostOf(plugin({ source: { find: () => [] } })).source('x', { files: 1 }))
    expect(error.message).toBe('plugin "x" failed in options: options.files is not known')
  })

  test('that throws, hangs or returns something else is named', async () => {
    const throwing = plugin(
      {},
      {
        setup: () => {
          throw new Error('no token')
        },
      },
    )
    expect((await failureOf(hostOf(throwing).source('x'))).message).toBe(
      'plugin "x" failed in setup: no token',
    )
    const hanging = plugin(new Promise<PluginRoles>(() => {}))
    expect((await failureOf(hostOf(hanging).source('x'))).message).toContain(
      'failed in setup: no answer within',
    )
    expect((await failureOf(hostOf(plugin(wrong(undefined))).source('x'))).message).toContain(
      'setup: result is missing',
    )
    const typo = plugin(wrong({ sources: {} }))
    expect((await failureOf(hostOf(typo).source('x'))).message).toContain(
      'setup: result.sources is not known',
    )
    const half = plugin(wrong({ scheduler: { install() {} } }))
    expect((await failureOf(hostOf(half).scheduler('x'))).message).toContain(
      'result.scheduler.remove is missing',
    )
  })

  test('that does not keep its word about its role is named', async () => {
    const error = await failureOf(hostOf(plugin({ hooks: {} }, { role: 'source' })).source('x'))
    expect(error.message).toBe('plugin "x" failed in setup: it says that it is a source, and returned none')
  })

  test('may wait, and runs once for the same options', async () => {
    let times = 0
    const slow = plugin({}, { setup: async () => ({ source: { find: () => [{ task: `t${++times}` }] } }) })
    let setups = 0
    const counted = {
      ...slow,
      setup(ctx: never) {
        setups++
        return slow.setup(ctx)
      },
    }
    const host = hostOf(counted)
    await host.find('x', {}, sourceContext())
    await host.find('x', {}, sourceContext())
    expect([setups, times]).toEqual([1, 2])
  })
})

describe('names', () => {
  const offers = (task: string, change: Partial<Plugin> = {}) =>
    plugin({ source: { find: () => [{ task }] } }, change)
  const builtin = offers('built-in', { role: 'source' })
  const loaded = (plugin: Plugin): LoadedPlugin[] => [{ plugin, origin: '/home/plugins/x.ts' }]

  test('an unknown name lists what there is for that role', async () => {
    const other = plugin({}, { role: 'verifier', name: 'v' })
    const error = await failureOf(hostOf(builtin, other).source('y'))
    expect(error.message).toBe('unknown source (y): there are x')
    expect(error.code).toBe('plugin_unknown')
  })

  test('a later plugin takes the place of an earlier one, and the list says so', async () => {
    const host = createHost({ builtins: [builtin], loaded: loaded(offers('own')), log() {} })
    expect(await host.find('x', {}, sourceContext())).toEqual([{ task: 'own' }])
    const known = { name: 'x', trusted: true, problem: null }
    const own = '/home/plugins/x.ts'
    expect(host.list()).toEqual([
      { ...known, role: 'source', origin: 'built-in', replacedBy: own, replaces: null },
      { ...known, role: null, origin: own, replacedBy: null, replaces: 'built-in' },
    ])
  })

  test('one name can stand for different roles', async () => {
    const harness = plugin(
      { harness: { programs: ['a'], command: () => wrong(0), reader: () => wrong(0) } },
      { role: 'harness' },
    )
    const host = hostOf(builtin, harness)
    expect(await host.find('x', {}, sourceContext())).toEqual([{ task: 'built-in' }])
    expect((await host.harness('x')).programs).toEqual(['a'])
    expect(host.list().map(({ replacedBy }) => replacedBy)).toEqual([null, null])
    expect([host.has('harness', 'x'), host.has('verifier', 'x')]).toEqual([true, false])
    expect(host.missing('harness', 'x')).toBeNull()
    expect(host.missing('verifier', 'x')?.message).toStartWith('unknown verifier (x): there are ')
  })

  test('a plugin that turns out not to fill the role leaves it to the one before', async () => {
    const host = createHost({ builtins: [builtin], loaded: loaded(plugin({ hooks: {} })), log() {} })
    expect(await host.find('x', {}, sourceContext())).toEqual([{ task: 'built-in' }])
  })
})

describe('hooks', () => {
  const event = { loop: 'nightly', tick: 1 }

  test('that throw or hang are logged, and the others are told', async () => {
    const lines: string[] = []
    const told: unknown[] = []
    const hook = (name: string, run: () => void | Promise<void>) =>
      plugin({ hooks: { 'tick:start': run } }, { name })
    const host = createHost({
      builtins: [
        hook('throws', () => {
          throw new Error('boom')
        }),
        hook('hangs', () => new Promise(() => {})),
        plugin({ hooks: { 'tick:start': (payload) => void told.push(payload) } }, { name: 'hears' }),
      ],
      log: (line) => lines.push(line),
      limits: { hook: 20 },
    })
    await host.emit('tick:start', event)
    expect(told).toEqual([event])
    expect(lines.sort()).toEqual([
      'plugin "hangs" failed in hook tick:start: no answer within 0.02 seconds',
      'plugin "throws" failed in hook tick:start: boom',
    ])
  })

  test('one of them answers: the number of the plugin loaded last that has one', async () => {
    const lines: string[] = []
    const counts = (name: string, run: NonNullable<Hooks['tokens:estimate']>) =>
      plugin({ hooks: { 'tokens:estimate': run } }, { name })
    const count = (...builtins: Plugin[]) =>
      createHost({ builtins, log: (line) => lines.push(line), limits: { hook: 20 } }).countTokens({
        text: 'abc',
        model: null,
      })
    const first = counts('first', ({ text }) => text.length)
    expect(await count()).toBeNull()
    expect(await count(plugin({ hooks: {} }))).toBeNull()
    expect(await count(first)).toBe(3)
    expect(
      await count(
        first,
        counts('later', async () => 7),
      ),
    ).toBe(7)
    expect(lines).toEqual([])
    const hangs = counts('hangs', () => new Promise(() => {}))
    for (const broken of [hangs, counts('broken', () => Number.NaN), counts('broken', () => -1)]) {
      expect(await count(first, broken)).toBe(3)
    }
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe('plugin "hangs" failed in hook tokens:estimate: no answer within 0.02 seconds')
  })

  test('observe: what one changes, no one else sees', async () => {
    const payload = { ...event }
    await hostOf(
      plugin({
        hooks: {
          'tick:start': (seen) => {
            seen.tick = 99
          },
        },
      }),
    ).emit('tick:start', payload)
    expect(payload).toEqual(event)
  })

  test('of a plugin that was set up with options are those of that setup', async () => {
    const told: string[] = []
    const host = hostOf(
      definePlugin({
        name: 'x',
        api: 1,
        options: v.object({ as: v.string() }),
        setup: ({ options }) => ({
          source: { find: () => [] },
          hooks: { 'tick:start': () => void told.push(options.as) },
        }),
      }),
    )
    await host.emit('tick:start', event)
    await host.find('x', { as: 'a' }, sourceContext())
    await host.emit('tick:start', event)
    expect(told).toEqual(['a'])
  })

  test('of a plugin that was replaced are silent', async () => {
    const told: string[] = []
    const hears = (as: string) => plugin({ hooks: { 'tick:start': () => void told.push(as) } })
    const host = createHost({
      builtins: [hears('first')],
      loaded: [{ plugin: hears('second'), origin: 'f' }],
      log() {},
    })
    await host.emit('tick:start', event)
    expect(told).toEqual(['second'])
  })

  test('a setup that fails for the hooks is said once', async () => {
    const lines: string[] = []
    const broken = plugin(
      {},
      {
        setup: () => {
          throw new Error('no')
        },
      },
    )
    const host = createHost({ builtins: [broken], log: (line) => lines.push(line) })
    await host.emit('tick:start', event)
    await host.emit('tick:start', event)
    expect(lines).toEqual(['plugin "x" failed in setup: no'])
  })
})
