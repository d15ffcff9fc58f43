import { describe, expect, test } from 'bun:test'
import * as v from 'valibot'
import type { Plugin, PluginRoles } from '../../src/api/index.ts'
import { runResult } from '../../src/plugin/contract/fakes.ts'
import { createHost } from '../../src/plugin/host.ts'
import { sessionEnd, sessionRequest } from '../contract/harness.ts'
import { sourceContext } from '../contract/source.ts'
import { verifyContext } from '../contract/verifier.ts'
import { failureOf, hostOf, plugin, wrong } from './fake.ts'

describe('a call into a plugin', () => {
  const find = (answer: () => unknown) =>
    hostOf(plugin({ source: { find: () => wrong(answer()) } })).find('x', {}, sourceContext())

  test('that throws, at once or later, is named and keeps its cause', async () => {
    const cause = new TypeError('no such file')
    const throws = () => {
      throw cause
    }
    for (const run of [throws, async () => throws()]) {
      const error = await failureOf(find(run))
      expect(error.message).toBe('plugin "x" failed in find: no such file')
      expect(error).toMatchObject({ code: 'plugin_failed', exit: 5, cause })
      // It is a built-in one: what it met is not in its code.
      expect(error.fix).toStartWith('look at work_source in loop.json')
    }
  })

  test('cuts a title that is too long, and refuses a brief that could not be read again', async () => {
    const item = (length: number) => [
      { title: 't'.repeat(9000), brief: 'b'.repeat(length), fingerprint: 'f' },
    ]
    expect((await find(() => item(1))) as unknown).toMatchObject([{ title: 't'.repeat(500) }])
    const error = await failureOf(find(() => item(6 << 20)))
    expect(error.message).toContain('result[0].brief is "bbb')
    expect(error.message).toContain('it has more than 5242880 characters')
    expect(error.message.length).toBeLessThan(250)
  })

  test('that throws something else than an error is named too', async () => {
    const error = await failureOf(find(() => Promise.reject('odd')))
    expect(error.message).toBe('plugin "x" failed in find: it threw "odd"')
  })

  test('that never answers is given up, and told so by its signal', async () => {
    const told = Promise.withResolvers<void>()
    const host = hostOf(
      plugin({
        source: {
          find: (ctx) => {
            ctx.signal.addEventListener('abort', () => told.resolve())
            return new Promise(() => {})
          },
        },
      }),
    )
    const error = await failureOf(host.find('x', {}, sourceContext()))
    expect(error.message).toBe('plugin "x" failed in find: no answer within 0.02 seconds')
    await told.promise
  })

  test('may wait for a program that takes longer than itself may, and then has its own time again', async () => {
    const item = { title: 'x', brief: 'x', fingerprint: 'f' }
    const run = () => Bun.sleep(60).then(() => runResult())
    const source = plugin({ source: { find: async (ctx) => (await ctx.run(['slow'])) && [item] } })
    expect(await hostOf(source).find('x', {}, sourceContext({ run }))).toEqual([item])
    const hangs = plugin({
      source: { find: (ctx) => ctx.runOnBase(['a']).then(() => new Promise(() => {})) },
    })
    const error = await failureOf(hostOf(hangs).find('x', {}, sourceContext()))
    expect(error.message).toBe('plugin "x" failed in find: no answer within 0.02 seconds')
  })

  test('of an event reaches every set of options, though one of them fails', async () => {
    const heard: unknown[] = []
    const lines: string[] = []
    const listener: Plugin = {
      name: 'x',
      api: 1,
      role: 'hooks',
      options: v.object({ as: v.string() }),
      setup: ({ options: { as } }) => ({
        hooks: {
          'tick:start': () => {
            heard.push(as)
            if (as === 'a') throw new Error('no voice')
          },
        },
      }),
    }
    const host = createHost({ builtins: [listener], log: (line) => lines.push(line) })
    await host.emit('tick:start', { loop: 'l', tick: 1 })
    expect(heard).toEqual([])
    for (const as of ['a', 'b']) await host.listen('x', { as })
    await host.emit('tick:start', { loop: 'l', tick: 1 })
    expect(heard).toEqual(['a', 'b'])
    expect(lines).toEqual(['plugin "x" failed in hook tick:start: no voice'])
    expect((await failureOf(host.listen('y', {}))).message).toContain('unknown hooks (y)')
    expect((await failureOf(host.listen('x', {}))).message).toContain('failed in options')
  })

  test('ends at once when the tick is interrupted, with the reason of the interruption', async () => {
    const stop = new AbortController()
    const reason = new Error('SIGTERM')
    const hangs = plugin({ source: { find: () => new Promise(() => {}) } })
    const host = createHost({ builtins: [hangs], log() {} })
    const found = host.find('x', {}, sourceContext({ signal: stop.signal }))
    stop.abort(reason)
    expect(await found.catch((error: unknown) => error)).toBe(reason)
  })

  test('a session that fails inside a verifier keeps its own error', async () => {
    class SessionFailed extends Error {}
    const host = hostOf(
      plugin({ verifier: { verify: (ctx) => ctx.session('verify').then(() => wrong(null)) } }),
    )
    const session = async () => {
      throw new SessionFailed()
    }
    const error = await host.verify('x', {}, verifyContext({ session })).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(SessionFailed)
  })

  const answers: [what: string, answer: unknown, why: string][] = [
    ['nothing', undefined, 'result is missing'],
    ['no list', {}, 'result is {}'],
    ['an item without title', [{ brief: 'b', fingerprint: 'f' }], 'result[0].title is missing'],
    ['an item without fingerprint', [{ title: 't', brief: 'b' }], 'result[0].fingerprint is missing'],
    ['a later item', [{ task: 'a' }, { title: 7, brief: '', fingerprint: 'f' }], 'result[1].title is 7'],
    ['an empty title', [{ title: ' ', brief: '', fingerprint: 'f' }], 'result[0].title is " ": it is empty'],
    ['a bad task name', [{ task: '../x' }], 'result[0].task is "../x": it is no task name'],
    ['a null', [null], 'result[0] is null'],
  ]
  for (const [what, answer, why] of answers) {
    test(`that answers ${what} is refused with the place`, async () => {
      expect((await failureOf(find(() => answer))).message).toStartWith(`plugin "x" failed in find: ${why}`)
    })
  }

  test('a title is cut to its first line', async () => {
    expect(await find(() => [{ title: ' a \nb', brief: '', fingerprint: 'f' }])).toEqual([
      { title: 'a', brief: '', fingerprint: 'f' },
    ])
  })

  test('a score that is none is refused', async () => {
    const verdict = { pass: true, score: Number.NaN, reasons: [], next_hint: '' }
    const host = hostOf(plugin({ verifier: { verify: async () => ({ verdict, warnings: [] }) } }))
    const error = await failureOf(host.verify('x', {}, verifyContext()))
    expect(error.message).toStartWith('plugin "x" failed in verify: result.verdict.score is ')
  })

  test('methods keep their object', async () => {
    class Own {
      readonly #task = 'a'
      find() {
        return [{ task: this.#task }]
      }
    }
    expect(await hostOf(plugin({ source: new Own() })).find('x', {}, sourceContext())).toEqual([
      { task: 'a' },
    ])
  })
})

describe('a harness', () => {
  const harness = (roles: Partial<NonNullable<PluginRoles['harness']>>) =>
    hostOf(
      plugin({
        harness: {
          programs: ['agent'],
          command: () => ({ argv: ['agent'] }),
          reader: () => ({ line() {}, end: () => wrong({}) }),
          ...roles,
        },
      }),
    ).harness('x')

  test('that starts nothing is refused', async () => {
    const start = async (argv: string[]) =>
      failureOf((await harness({ command: () => ({ argv }) })).command(sessionRequest()))
    expect((await start([])).message).toBe(
      'plugin "x" failed in command: result.argv is []: a program is expected first',
    )
    expect((await start(['a', 'b\0c'])).message).toContain('NUL')
  })

  test('whose reader chokes on a line says so at the end of the session, not in its middle', async () => {
    const made = await harness({
      reader: () => ({
        line: () => {
          throw new Error('bad line')
        },
        end: () => wrong(null),
      }),
    })
    const reader = made.reader()
    expect(() => reader.line('x')).not.toThrow()
    const error = await failureOf(reader.end(sessionEnd()))
    expect(error.message).toBe('plugin "x" failed in reading the output: bad line')
  })

  test('whose report is incomplete is refused', async () => {
    const error = await failureOf((await harness({})).reader().end(sessionEnd()))
    expect(error.message).toContain('result.finalMessage is missing')
  })

  test('that is not there is not remote', async () => {
    expect(await hostOf().isRemote('x')).toBe(false)
    const roles = {
      harness: { programs: [], remote: true, command: () => wrong(0), reader: () => wrong(0) },
    } satisfies PluginRoles
    expect(await hostOf(plugin(roles)).isRemote('x')).toBe(true)
  })
})
