import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AutomatonError } from '../../src/errors.ts'
import {
  schedulerContext,
  sessionEnd,
  sessionRequest,
  sourceContext,
  verifyContext,
} from '../../src/plugin/contract/fakes.ts'
import { createHost, type Host } from '../../src/plugin/host.ts'
import { RemotePlugin } from '../../src/plugin/remote.ts'
import { defaultLimits, type Limits } from '../../src/plugin/roles.ts'
import { tempDir } from '../helpers/temp.ts'

const main = join(import.meta.dir, '..', '..', 'src', 'main.ts')

interface Hosted extends Disposable {
  host: Host
  process: RemotePlugin
  said: string[]
}

/** A plugin `x` of this text in a process of its own, run from source. */
function hosted(
  roles: string,
  change: { limits?: Partial<Limits>; blockMs?: number; head?: string } = {},
): Hosted {
  const text = `import { definePlugin } from 'automaton'\n${change.head ?? ''}\nexport default definePlugin({ name: 'x', api: 1, setup: () => (${roles}) })\n`
  const dir = tempDir()
  const path = join(dir.path, 'x.ts')
  // Only its place counts: what is run is the text that is handed over.
  writeFileSync(path, 'not this')
  const said: string[] = []
  const process = new RemotePlugin({
    argv: [Bun.argv[0] ?? 'bun', main, 'plugin-process'],
    cwd: dir.path,
    env: { PATH: Bun.env.PATH ?? '' },
    log: (line) => said.push(line),
    blockMs: change.blockMs ?? 20_000,
    limits: { ...defaultLimits, ...change.limits },
    request: () => ({ as: 'x', entry: path, test: null, files: [{ path, text }], fix: 'look' }),
  })
  const plugin = {
    name: 'x',
    setup: async ({ options }: { options: unknown }) => process.setUp(options),
  }
  const host = createHost({
    builtins: [],
    loaded: [{ plugin, origin: path, fix: 'look', remote: true }],
    log: (line) => said.push(line),
  })
  return {
    host,
    process,
    said,
    [Symbol.dispose]() {
      process.close()
      dir[Symbol.dispose]()
    },
  }
}

async function failed(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    (value) => new Error(`it answered ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
}

describe('a plugin in a process of its own', () => {
  test('gets the values and the functions of its context', async () => {
    using x = hosted(`{ source: { async find(ctx) {
      ctx.log('hello')
      const seen = [ctx.loop, ctx.tasks.length, ctx.signal.aborted, await ctx.readProjectFile('a')]
      return [{ title: JSON.stringify(seen), brief: '', fingerprint: 'f' }]
    } } }`)
    const lines: string[] = []
    const ctx = sourceContext({
      readProjectFile: async (path) => `text of ${path}`,
      log: (line) => lines.push(line),
    })
    const found = await x.host.find('x', {}, ctx)
    expect(found).toMatchObject([{ title: '["nightly",0,false,"text of a"]' }])
    expect(lines).toEqual(['hello'])
  })

  test('what it was lent fails with its own error, and a wrapped one is the plugin’s', async () => {
    class Own extends Error {}
    const session = async () => {
      throw new Own('broken')
    }
    using passes = hosted(`{ verifier: { verify: (ctx) => ctx.session('verify') } }`)
    expect(await failed(passes.host.verify('x', {}, verifyContext({ session })))).toBeInstanceOf(Own)
    using wraps = hosted(
      `{ verifier: { verify: (ctx) => ctx.session('verify').catch((e) => { throw new Error('oh: ' + e.message) }) } }`,
    )
    const error = await failed(wraps.host.verify('x', {}, verifyContext({ session })))
    expect(error).toBeInstanceOf(AutomatonError)
    expect(String(error)).toContain('plugin "x" failed in verify: oh: broken')
  })

  test('may wait for a session as long as it takes, and is given up when it does not yield', async () => {
    const limits = { blockMs: 400 }
    using waits = hosted(
      `{ verifier: { async verify(ctx) { await ctx.session('verify'); return { unreadable: 'u', raw: '' } } } }`,
      limits,
    )
    const session = async () => {
      await Bun.sleep(1200)
      return {
        output: null,
        finalMessage: null,
        sessionId: null,
        usage: { usd: null, tokens: null },
        finished: true,
        error: null,
      }
    }
    expect(await waits.host.verify('x', {}, verifyContext({ session }))).toEqual({ unreadable: 'u', raw: '' })
    using hangs = hosted('{ verifier: { verify() { while (true) {} } } }', limits)
    expect(String(await failed(hangs.host.verify('x', {}, verifyContext())))).toContain(
      'plugin "x" failed in verify: it did not yield for 0.4 seconds',
    )
  })

  test('ends when the tick is interrupted, with the reason of the interruption', async () => {
    using x = hosted('{ source: { find: () => new Promise(() => {}) } }')
    await x.host.source('x')
    const stop = new AbortController()
    const found = failed(x.host.find('x', {}, sourceContext({ signal: stop.signal })))
    const reason = new Error('SIGTERM')
    stop.abort(reason)
    expect(await found).toBe(reason)
  })

  test('that fails after its answer says so, and is called no more', async () => {
    using x = hosted(
      `{ source: { find() { setTimeout(() => { throw new Error('late') }, 150); return [] } } }`,
    )
    expect(await x.host.find('x', {}, sourceContext())).toEqual([])
    while (x.said.length === 0) await Bun.sleep(5)
    expect(x.said).toEqual(['it failed after its answer: late'])
    expect(String(await failed(x.host.find('x', {}, sourceContext())))).toContain('failed in find: late')
  })

  test('reads a session of many lines in order, and its readers are apart', async () => {
    using x = hosted(`{ harness: {
      programs: ['a'], command: ({ prompt }) => ({ argv: ['a', prompt] }),
      reader() { let n = 0; let sum = 0; return {
        line(text) { if (Number(text) !== n) throw new Error('line ' + n + ' is ' + text.slice(0, 20)); n++; sum += text.length },
        end: () => ({ finalMessage: String(n), sessionId: null, usage: { usd: null, tokens: sum }, finished: true, error: null }),
      } },
    } }`)
    const harness = await x.host.harness('x')
    expect(harness).toMatchObject({ programs: ['a'], remote: false, env: [], writes: [] })
    expect(await harness.command(sessionRequest())).toEqual({ argv: ['a', 'Do the thing.'] })
    const [one, two] = [harness.reader(), harness.reader()]
    for (let i = 0; i < 50_000; i++) one.line(String(i))
    two.line('0')
    expect((await one.end(sessionEnd())).finalMessage).toBe('50000')
    expect((await two.end(sessionEnd())).finalMessage).toBe('1')
    const chokes = harness.reader()
    for (const line of ['0', '7', '2']) chokes.line(line)
    expect(String(await failed(chokes.end(sessionEnd())))).toContain(
      'failed in reading the output: line 1 is 7',
    )
  })

  test('that gives no reader is told what a reader lacks', async () => {
    using x = hosted(
      "{ harness: { programs: ['a'], command: () => ({ argv: ['a'] }), reader: () => ({ end() {} }) } }",
    )
    const reader = (await x.host.harness('x')).reader()
    expect(String(await failed(reader.end(sessionEnd())))).toContain(
      'it gave no reader: result.line is missing',
    )
  })

  test('whose code has several mistakes is told the first, with its place', async () => {
    using x = hosted('{}', { head: 'const a = ;\nconst b = ;' })
    expect(String(await failed(x.host.source('x')))).toMatch(/failed in import: x\.ts:2:\d+: \w/)
  })

  test('schedules, inspects, and is told what happens', async () => {
    using x = hosted(
      `{ scheduler: {
        async install(unit, ctx) {
          on = (await ctx.run(['tool', unit.loop], { stdin: new Uint8Array([255]) })).stdout
          await ctx.writeFile(ctx.home + '/' + ctx.user, unit.script)
        },
        remove: async () => { on = '' }, enable() {}, disable() {},
        inspect: (unit, ctx) => ({ installed: on !== '', enabled: ctx.fromTick, drift: [on, String(unit.intervalSeconds)] }) },
        hooks: { halt: (event) => { console.log('heard ' + event.reason) } } }`,
      { head: "let on = ''" },
    )
    const scheduler = await x.host.scheduler('x')
    const unit = { loop: 'l', project: '/p', script: '/s', intervalSeconds: 60 }
    const seen: unknown[] = []
    const ctx = schedulerContext({
      fromTick: true,
      run: async (argv, options) => {
        seen.push(argv, options)
        return { exitCode: 0, output: 'told', stdout: 'told', seconds: 0, timedOut: false }
      },
      writeFile: async (path, data) => void seen.push(path, data),
    })
    await scheduler.install(unit, ctx)
    expect(seen).toEqual([['tool', 'l'], { stdin: new Uint8Array([255]) }, '/home/pat/1000', '/s'])
    expect(await scheduler.inspect(unit, ctx)).toEqual({
      installed: true,
      enabled: true,
      drift: ['told', '60'],
    })
    const halt = {
      loop: 'l',
      project: '/p',
      reason: 'drift_detected',
      detail: '',
      haltId: 'h',
      fix: '',
    } as const
    await x.host.emit('halt', halt)
    while (x.said.length === 0) await Bun.sleep(5)
    expect(x.said).toEqual(['heard drift_detected'])
  })

  test('a flood is read to its end and mostly not shown', async () => {
    using x = hosted(
      `{ source: { find() { for (let i = 0; i < 100; i++) console.log('y'.repeat(100_000)); return [] } } }`,
    )
    expect(await x.host.find('x', {}, sourceContext())).toEqual([])
    expect(x.said.join('').length).toBeLessThan(100_000)
  })
})
