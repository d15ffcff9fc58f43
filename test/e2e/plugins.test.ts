import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identify, isAlive } from '../../src/system/process.ts'
import { hasNoModules, pluginProject, pluginText } from '../helpers/plugins.ts'
import { must } from '../helpers/project.ts'

const todoSource = `import { definePlugin, fingerprint } from 'automaton'
import * as v from 'valibot'
import { titlesOf } from './lib/titles'
import prefix from './lib/prefix.json'
enum Mark { Open = '[ ]' }
export default definePlugin({
  name: 'todo-file',
  api: 1,
  role: 'source',
  options: v.object({ file: v.string() }),
  setup: ({ options }) => ({
    source: {
      async find(ctx) {
        console.log('{"schema":1,"this":"is noise"}')
        ctx.log('looking into ' + options.file)
        const text = (await ctx.readProjectFile(options.file)) ?? ''
        return titlesOf(text, Mark.Open).map((title) => ({
          title: prefix.text + title,
          brief: title,
          fingerprint: fingerprint(title),
        }))
      },
    },
  }),
})
`
const titles = `export const titlesOf = (text: string, mark: string): string[] =>
  text.split('\\n').flatMap((line) => (line.startsWith('- ' + mark) ? [line.slice(6).trim()] : []))
`
const todo = { 'todo.ts': todoSource, 'lib/titles.ts': titles, 'lib/prefix.json': '{"text":"Please "}' }
const files = { 'TODO.md': '- [x] old\n- [ ] paint the door\n', 'src/work.txt': 'start\n' }
const todoLoop = { work_source: { kind: 'todo-file', options: { file: 'TODO.md' } } }

describe('a user’s plugin in the built binary', () => {
  test('a source in TypeScript finds work, with imports, enums and what the binary serves', async () => {
    using project = await pluginProject({
      plugins: todo,
      trusted: ['todo'],
      files,
      task: false,
      loop: todoLoop,
    })
    expect(hasNoModules(project.plugins)).toBe(true)
    const tick = await must(project.tick('--json'))
    expect(tick.json()).toMatchObject({ outcome: 'worked', task: 'please-paint-the-door' })
    expect(tick.stderr).toContain('looking into TODO.md')
    expect(tick.stderr).toContain('plugin "todo-file": {"schema":1,"this":"is noise"}')
  })

  test('a verifier runs programs and sessions of the tick, and grades', async () => {
    const verify = `async verify(ctx) {
      const { exitCode, output } = await ctx.run(['git', 'log', '-1', '--format=%s'])
      const session = await ctx.session('verify')
      const read = ctx.readVerdict(session.output ?? session.finalMessage ?? '')
      if (!('verdict' in read)) return read
      return { ...read, verdict: { ...read.verdict, score: 0.4, reasons: [exitCode + ' ' + output.trim()] } }
    }`
    using project = await pluginProject({
      plugins: { 'judge.ts': pluginText('judge', 'verifier', verify) },
      trusted: ['judge'],
      loop: { verifiers: [{ use: 'judge' }] },
    })
    const tick = await must(project.tick('--json'))
    const { verdict } = tick.json() as { verdict: { score: number; reasons: string[] } }
    expect(verdict.score).toBe(0.4)
    expect(verdict.reasons).toEqual([
      expect.stringMatching(/^0 automaton\(nightly\): fix-it implement tick 1/),
    ])
  })

  test('what a verifier could not read as a verdict is kept for the person, without secrets', async () => {
    const secret = 'a-secret-of-24-characters'
    const verify = `verify: async (ctx) => ({
      unreadable: 'the judge mumbled',
      raw: 'mumble ' + readFileSync(ctx.worktree + '/key', 'utf8'),
    })`
    const judge = pluginText('judge', 'verifier', verify, `import { readFileSync } from 'node:fs'`)
    using project = await pluginProject({
      plugins: { 'judge.ts': judge },
      trusted: ['judge'],
      files: { key: secret, 'src/work.txt': 'start\n' },
      loop: { verifiers: [{ use: 'judge' }] },
    })
    const tick = await project.call(['tick', project.loop], { env: { JUDGE_TOKEN: secret } })
    expect(tick.code).toBe(4)
    expect(project.state().halt).toMatchObject({
      reason: 'verifier_failed',
      detail: 'verdict unreadable: the judge mumbled',
    })
    const kept = readFileSync(join(project.loopDir, 'outputs', 'tick1-verdict.txt'), 'utf8')
    expect(kept).toStartWith('mumble ')
    expect(kept).not.toContain(secret)
  })

  test('a session that fails inside a verifier counts as the session’s failure, not the plugin’s', async () => {
    using project = await pluginProject({
      plugins: { 'judge.ts': pluginText('judge', 'verifier', `verify: (ctx) => ctx.session('verify')`) },
      trusted: ['judge'],
      scenario: { verify: 'exit 9' },
      loop: { verifiers: [{ use: 'judge' }] },
    })
    const tick = await project.tick('--json')
    expect(tick.json()).toMatchObject({ outcome: 'session_failed', role: 'verify' })
  })

  test('a harness starts its agent and reads what it prints, line by line', async () => {
    const harness = `programs: ['sh'], env: ['PLUGIN_ENV'],
      command: ({ role, prompt }) => ({
        argv: ['sh', '-c', role === 'implement'
          ? 'cat >/dev/null; echo new >> src/work.txt; echo "say: did it for $PLUGIN_ENV"; echo end'
          : 'cat >/dev/null; echo "say: {\\\\"pass\\\\":true,\\\\"score\\\\":1}"; echo end'],
        stdin: prompt,
      }),
      reader() {
        const said = []
        let finished = false
        return {
          line(text) {
            if (text.startsWith('say: ')) said.push(text.slice(5))
            if (text === 'end') finished = true
          },
          end: () => ({ finalMessage: said.join('\\n'), sessionId: 's-1', usage: { usd: 0.5, tokens: 10 }, finished, error: null }),
        }
      }`
    using project = await pluginProject({
      plugins: { 'own.ts': pluginText('own', 'harness', harness) },
      trusted: ['own'],
      loop: { harness: { use: 'own' }, roles: { orchestrate: { mode: 'rules' } } },
    })
    const loop = join(project.loopDir, 'loop.json')
    const config = JSON.parse(readFileSync(loop, 'utf8'))
    writeFileSync(loop, JSON.stringify({ ...config, harness: { use: 'own' } }))
    const tick = await must(project.call(['tick', 'nightly', '--json'], { env: { PLUGIN_ENV: 'pat' } }))
    expect(tick.json()).toMatchObject({ outcome: 'worked', spent: { usd: 1, tokens: 20 } })
    const artifact = readFileSync(join(project.loopDir, 'outputs', 'tick1-implement.md'), 'utf8')
    expect(artifact).toBe('did it for pat')
  })

  test('zx is there for a plugin that asks for it', async () => {
    const find = `async find(ctx) { $.verbose = false; return [{ title: String(await $\`echo from zx\`).trim(), brief: 'b', fingerprint: 'f' }] }`
    using project = await pluginProject({
      plugins: { 'shell.ts': pluginText('shell', 'source', find, `import { $ } from 'zx'`) },
      trusted: ['shell'],
      task: false,
      loop: { work_source: { kind: 'shell' } },
    })
    expect((await must(project.tick('--json'))).json()).toMatchObject({ task: 'from-zx' })
  })

  test('takes the place of a built-in of its name, and the list says so', async () => {
    const find = `find: () => [{ title: 'mine', brief: 'b', fingerprint: 'f' }]`
    using project = await pluginProject({
      plugins: { 'backlog.ts': pluginText('backlog', 'source', find) },
      trusted: ['backlog'],
    })
    expect((await must(project.tick('--json'))).json()).toMatchObject({ task: 'mine' })
    const listed = (await must(project.call(['plugins', '--json']))).json() as {
      plugins: { name: string; origin: string; replaces: string | null; replacedBy: string | null }[]
    }
    const file = join(project.plugins, 'backlog.ts')
    const [first, second] = listed.plugins.filter(({ name }) => name === 'backlog')
    expect([first?.replacedBy ?? second?.replacedBy, first?.replaces ?? second?.replaces]).toEqual([
      file,
      'built-in',
    ])
    expect(plain((await must(project.call(['plugins']))).stdout)).toContain(`(${file}) replaces built-in`)
  })

  test('of the project itself comes after HOME’s and wins', async () => {
    const find = (title: string) => `find: () => [{ title: '${title}', brief: 'b', fingerprint: 'f' }]`
    using project = await pluginProject({
      plugins: { 'own.ts': pluginText('own', 'source', find('from home')) },
      trusted: ['own'],
      loop: { work_source: { kind: 'own' } },
    })
    const local = join(project.root, '.automaton', 'plugins')
    mkdirSync(local)
    writeFileSync(join(local, 'own.mjs'), pluginText('own', 'source', find('from project')))
    const refused = await project.tick('--json')
    expect(refused.code).toBe(5)
    await must(project.trust(join(local, 'own.mjs')))
    expect((await must(project.tick('--json'))).json()).toMatchObject({ task: 'from-project' })
  })

  test('that listens hears what happens, and its failures change nothing', async () => {
    const text = `import { definePlugin } from 'automaton'
import { appendFileSync } from 'node:fs'
export default definePlugin({ name: 'ears', api: 1, setup: () => ({ hooks: {
  'tick:start': () => { throw new Error('deaf') },
  'tick:end': (event) => appendFileSync(process.env.AUTOMATON_HOME + '/heard.txt', event.outcome + '\\n'),
} }) })
`
    using project = await pluginProject({ plugins: { 'ears.ts': text }, trusted: ['ears'] })
    const tick = await must(project.tick())
    expect(tick.stderr).toContain('plugin "ears" failed in hook tick:start: deaf')
    expect(readFileSync(join(project.home, '.automaton', 'heard.txt'), 'utf8')).toBe('worked\n')
  })
})

describe('a plugin that a loop names and that is broken', () => {
  const source = (members: string) => pluginText('own', 'source', members)
  const whole = (text: string) => `import { definePlugin } from 'automaton'\n${text}\n`
  const define = (rest: string) => whole(`export default definePlugin({ name: 'own', api: 1, ${rest} })`)

  /** Before any work is looked for: the gate's refusal. */
  const stages: [stage: string, text: string, why: RegExp][] = [
    ['import', 'export default {', /own\.ts:1:\d+: /],
    ['import', whole(`throw new Error('no luck')`), /no luck/],
    ['import', whole('process.exit(0)'), /it ended its process with exit code 0/],
    ['import', whole(`await import('./' + 'secret.ts')`), /was not trusted with it/],
    ['shape', whole('export const plugin = 1'), /it has no default export/],
    ['shape', define('setup: 5'), /default export\.setup is 5/],
    ['shape', whole(`export default { name: 'own', api: 2, setup() {} }`), /this automaton knows api 1/],
    ['setup', define(`role: 'source', setup() { throw new Error('no token') }`), /no token/],
    ['setup', define(`role: 'source', setup: () => ({})`), /it says that it is a source, and returned none/],
    ['setup', define(`role: 'source', setup: () => new Promise(() => {})`), /no answer within 1 seconds/],
    ['setup', define(`role: 'source', setup() { while (true) {} }`), /no answer within 1 seconds/],
  ]
  test.each(stages)('in %s, by %j, refuses the tick', async (stage, text, why) => {
    using project = await pluginProject({
      plugins: { 'own.ts': text, 'secret.ts': 'export {}\n' },
      loop: { work_source: { kind: 'own' } },
    })
    // It is trusted whatever it is; that it cannot be loaded is said.
    const env = { AUTOMATON_PLUGIN_SECONDS: '1' }
    await must(project.call(['plugins', 'trust', 'own'], { env }))
    const before = readFileSync(join(project.loopDir, '.state.loop'), 'utf8')
    const tick = await project.call(['tick', 'nightly', '--json'], { env })
    expect(tick.code).toBe(5)
    const { gate } = tick.json() as { gate: { reason: string; detail: string; fix: string } }
    expect(gate.reason).toBe('refused:config')
    expect(gate.detail).toStartWith(`plugin "own" failed in ${stage}: `)
    expect(gate.detail).toMatch(why)
    expect(gate.fix).toContain(join(project.plugins, 'own.ts'))
    expect(readFileSync(join(project.loopDir, '.state.loop'), 'utf8')).toBe(before)
  })

  const answers: [what: string, members: string, why: RegExp][] = [
    ['that leaves', 'find() { process.exit(0) }', /it ended its process with exit code 0/],
    ['that kills itself', `find() { process.kill(process.pid, 'SIGKILL') }`, /ended by SIGKILL/],
    ['that throws', `find() { throw new Error('boom') }`, /boom/],
    [
      'that throws late',
      `find: () => { setTimeout(() => { throw new Error('late') }, 0); return [] }`,
      /late/,
    ],
    [
      'that rejects unheard',
      `find: () => { void Promise.reject(new Error('unheard')); return [] }`,
      /unheard/,
    ],
    ['that never answers', 'find: () => new Promise(() => {})', /no answer within 1 seconds/],
    ['that never yields', 'find() { while (true) {} }', /no answer within 1 seconds/],
    ['that answers nonsense', `find: () => [{ title: 'x' }]`, /result\[0\]\.fingerprint is missing|brief/],
    ['that answers what cannot be copied', 'find: () => [() => 1]', /its answer cannot be handed over/],
    ['that closes its channel', 'find() { process.disconnect(); return [] }', /its process|its channel/],
    [
      'that floods and throws',
      `find() { const c = 'x'.repeat(1 << 16); for (let i = 0; i < 400; i++) process.stdout.write(c + '\\n'); throw new Error('wet') }`,
      /wet/,
    ],
  ]
  test.each(answers)('%s in find ends the tick with exit 5 and nothing written', async (_, members, why) => {
    using project = await pluginProject({
      plugins: { 'own.ts': source(members) },
      trusted: ['own'],
      loop: { work_source: { kind: 'own' } },
    })
    const before = readFileSync(join(project.loopDir, '.state.loop'), 'utf8')
    const env = { AUTOMATON_PLUGIN_SECONDS: '1' }
    const tick = await project.call(['tick', 'nightly'], { env })
    expect(tick.code).toBe(5)
    expect(tick.stdout).toBe('')
    expect(tick.stderr).toMatch(/^automaton: plugin "own" failed in find: /m)
    expect(tick.stderr).toMatch(why)
    expect(tick.stderr.length).toBeLessThan(200_000)
    expect(readFileSync(join(project.loopDir, '.state.loop'), 'utf8')).toBe(before)
  })

  test('by options that it does not know is told where they are', async () => {
    using project = await pluginProject({
      plugins: todo,
      trusted: ['todo'],
      loop: { work_source: { kind: 'todo-file', options: { file: 5 } } },
    })
    const tick = await project.tick()
    expect(tick.code).toBe(5)
    expect(tick.stdout + tick.stderr).toContain('plugin "todo-file" failed in options: options.file is 5')
  })

  test('that nobody trusted, or that changed, or whose import changed, is not run', async () => {
    using project = await pluginProject({ plugins: todo, files, task: false, loop: todoLoop })
    const refusal = async () => {
      const tick = await project.tick('--json')
      expect(tick.code).toBe(5)
      return (tick.json() as { gate: { detail: string; fix: string } }).gate
    }
    const file = join(project.plugins, 'todo.ts')
    expect(await refusal()).toMatchObject({
      detail: `plugin "todo-file" failed in trust: nobody has trusted it yet (${file})`,
      fix: `automaton plugins trust ${file}`,
    })
    await must(project.trust(file))
    const evil = `import { writeFileSync } from 'node:fs'\nwriteFileSync('/tmp/never', 'x')\n`
    project.write({ 'lib/titles.ts': titles + evil })
    expect((await refusal()).detail).toContain(
      'failed in trust: lib/titles.ts has changed since it was trusted',
    )
    project.write({ 'lib/titles.ts': titles, 'todo.ts': `${todoSource}\n` })
    expect((await refusal()).detail).toContain('failed in trust: todo.ts has changed since it was trusted')
    await must(project.trust('todo'))
    expect((await must(project.tick('--json'))).json()).toMatchObject({ outcome: 'worked' })
  })

  test('whose import is gone, or was never there, is told which', async () => {
    using project = await pluginProject({ plugins: todo, trusted: ['todo'], loop: todoLoop })
    await Bun.file(join(project.plugins, 'lib/titles.ts')).delete()
    const tick = await project.tick()
    expect(tick.code).toBe(5)
    expect(plain(tick.stdout)).toContain('plugin "todo-file" failed in resolve: ')
    const again = await project.trust('todo')
    expect(again.code).toBe(5)
    expect(again.stderr).toContain('it imports "./lib/titles", which is not there')
    project.write({ 'needy.ts': `import pad from 'left-pad'\n${source('find: () => pad()')}` })
    expect((await project.trust('needy')).stderr).toContain('it imports "left-pad", and a plugin can import ')
  })

  test('is a warning only where no loop names it', async () => {
    using project = await pluginProject({ plugins: { 'odd.ts': 'export default {' }, trusted: ['odd'] })
    await must(project.tick())
    const listed = await must(project.call(['plugins']))
    expect(listed.stdout).toContain('plugin "odd" failed in import: ')
    expect(listed.stdout).toMatch(/odd\s+broken/)
    const doctor = await project.call(['doctor'])
    expect(plain(doctor.stdout)).toContain('plugin "odd" failed in import: ')
  })
})

describe('plugins', () => {
  test('that no loop names are not loaded by check-gate', async () => {
    const marks = `import { writeFileSync } from 'node:fs'\nwriteFileSync(process.env.AUTOMATON_HOME + '/loaded', 'x')\n`
    using project = await pluginProject({
      plugins: { 'idle.ts': marks + pluginText('idle', 'source', 'find: () => []') },
      trusted: ['idle'],
    })
    const mark = join(project.home, '.automaton', 'loaded')
    await Bun.file(mark).delete()
    await must(project.call(['check-gate', 'nightly']))
    expect(existsSync(mark)).toBe(false)
    project.configure({ work_source: { kind: 'idle' } })
    await must(project.call(['check-gate', 'nightly']))
    expect(existsSync(mark)).toBe(true)
  })

  test('trust is refused inside a tick, and for what lies in a worktree', async () => {
    using project = await pluginProject({ plugins: todo })
    const inside = await project.call(['plugins', 'trust', 'todo'], { env: { AUTOMATON_IN_TICK: 'nightly' } })
    expect(inside.code).toBe(6)
    await must(project.tick())
    const planted = join(project.worktree, '.automaton', 'plugins')
    mkdirSync(planted, { recursive: true })
    writeFileSync(join(planted, 'evil.ts'), pluginText('evil', 'source', 'find: () => []'))
    const trust = await project.call(['plugins', 'trust', join(planted, 'evil.ts')])
    expect(trust.code).toBe(2)
    expect(trust.stderr).toContain("it lies in a loop's worktree")
    const listed = await must(project.call(['plugins', '--project', project.worktree]))
    expect(listed.stdout).not.toContain('evil')
  })

  test('trust is this user’s own file, and one that others could have written does not count', async () => {
    using project = await pluginProject({ plugins: todo, trusted: ['todo'], loop: todoLoop })
    const file = join(project.home, '.automaton', '.automaton', 'trust.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    chmodSync(file, 0o644)
    const tick = await project.tick()
    expect(tick.code).toBe(5)
    expect(tick.stdout + tick.stderr).toContain("is not this user's alone, so nothing in it counts")
    await must(project.trust('todo'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('a session that trusts its own plugin halts the loop as tampering', async () => {
    using project = await pluginProject({
      scenario: {
        implement:
          'mkdir -p "$AUTOMATON_HOME/.automaton"; echo "{}" > "$AUTOMATON_HOME/.automaton/trust.json"',
      },
    })
    const tick = await project.tick('--json')
    expect(tick.code).toBe(6)
    expect(project.state().halt.detail).toContain('trust.json')
  })

  test('a plugin’s process ends with its tick, even one that never yields', async () => {
    const find = `find() { writeFileSync(process.env.AUTOMATON_HOME + '/pid', String(process.pid)); while (true) {} }`
    const head = `import { writeFileSync } from 'node:fs'`
    using project = await pluginProject({
      plugins: { 'own.ts': pluginText('own', 'source', find, head) },
      trusted: ['own'],
      loop: { work_source: { kind: 'own' } },
    })
    const pidFile = join(project.home, '.automaton', 'pid')
    const tick = project.call(['tick', 'nightly'], { timeoutMs: 2500 })
    expect((await tick).code).not.toBe(0)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    const deadline = Bun.nanoseconds() + 5e9
    while (alive(pid) && Bun.nanoseconds() < deadline) await Bun.sleep(20)
    expect(alive(pid)).toBe(false)
  })
})

describe('plugins new and check', () => {
  test.each(['source', 'verifier', 'harness', 'scheduler', 'hooks'])(
    'the skeleton of a %s passes what it is checked for',
    async (role) => {
      using project = await pluginProject({ task: false })
      const made = (await must(project.call(['plugins', 'new', role, 'mine', '--json']))).json()
      expect(made.next).toEqual([
        `automaton plugins trust ${made.file}`,
        `automaton plugins check ${made.file}`,
      ])
      expect(readFileSync(join(project.plugins, 'automaton.d.ts'), 'utf8')).toContain(
        "declare module 'automaton'",
      )
      expect((await project.call(['plugins', 'check', 'mine'])).stderr).toContain('failed in trust')
      await must(project.trust('mine'))
      const checked = (await must(project.call(['plugins', 'check', 'mine', '--json']))).json() as {
        ok: boolean
        checks: { suite: string; ok: boolean }[]
        notes: string[]
      }
      expect(checked.ok).toBe(true)
      expect(checked.notes).toEqual([])
      expect(new Set(checked.checks.map(({ suite }) => suite))).toEqual(new Set([role, 'test']))
      const again = await project.call(['plugins', 'new', role, 'mine'])
      expect(again.code).toBe(2)
    },
  )

  test('check says what a plugin does wrong, and exits with 3', async () => {
    const find = `find: () => [{ task: 'stuck' }, { task: 'stuck' }]`
    using project = await pluginProject({
      plugins: { 'bad.ts': pluginText('bad', 'source', find) },
      trusted: ['bad'],
    })
    const check = await project.call(['plugins', 'check', 'bad'])
    expect(check.code).toBe(3)
    expect(check.stdout).toContain('it offers the task "stuck"')
    expect(check.stdout).toContain('it offers "stuck" twice')
  })

  test('--local writes into the project', async () => {
    using project = await pluginProject({ task: false })
    const made = (await must(project.call(['plugins', 'new', 'source', 'mine', '--local', '--json']))).json()
    expect(made.file).toBe(join(project.root, '.automaton', 'plugins', 'mine.ts'))
    expect(existsSync(project.plugins)).toBe(false)
  })

  test('a name, a role or an action that is none is a usage error', async () => {
    using project = await pluginProject({ task: false })
    for (const args of [
      ['new', 'source', 'Bad Name'],
      ['new', 'sauce', 'x'],
      ['new', 'source'],
      ['trust', 'nothing.ts'],
      ['frob'],
      ['--local'],
    ]) {
      expect((await project.call(['plugins', ...args])).code).toBe(2)
    }
  })
})

/** As one line: the page is narrow, and temporary folders have long names. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** A dead process that its parent (perhaps this test runner, as a subreaper) has not collected yet is not alive. */
function alive(pid: number): boolean {
  const who = identify(pid)
  return who !== null && isAlive(who)
}
