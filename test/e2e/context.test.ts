import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallOptions } from '../helpers/cli.ts'
import { pluginProject } from '../helpers/plugins.ts'
import { makeProject, must, type ProjectOptions, type TestProject } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'

const gib = 2 ** 30

/** A project on a machine whose `nvidia-smi` is a script; it is the only tool that has anything to say. */
function machine(p: TestProject) {
  const bin = join(p.home, 'machine')
  const calls = join(p.home, 'nvidia-calls')
  mkdirSync(bin)
  const env = { PATH: `${bin}:${process.env.PATH}` }
  const runs = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n').length : 0)
  const plant = (folder: string, script: string) => {
    writeFiles(folder, { 'nvidia-smi': `#!/bin/sh\necho "$*" >> '${calls}'\n${script}\n` })
    chmodSync(join(folder, 'nvidia-smi'), 0o755)
  }
  const machine = {
    env,
    /** How often `nvidia-smi` was run. */
    runs,
    plant,
    card: (mib: number) => plant(bin, `echo 'None, N/A, ${mib}, NVIDIA GeForce RTX 3080'`),
    tool: (script: string) => plant(bin, script),
    config: (...lines: string[]) => writeFiles(p.home, { '.automaton/config.md': `${lines.join('\n')}\n` }),
    call: (args: string[], more: Partial<CallOptions> = {}) => p.call(args, { env, ...more }),
    gate: async () => (await machine.call(['check-gate', p.loop])).json(),
    vram: async (...args: string[]) => (await must(machine.call(['vram', '--json', ...args]))).json(),
  }
  machine.config('backend: auto')
  return machine
}

async function cardProject(mib: number, options: ProjectOptions = {}) {
  const p = await makeProject(options)
  const m = machine(p)
  if (mib > 0) m.card(mib)
  return Object.assign(p, { machine: m })
}

const stateText = (p: TestProject) => readFileSync(join(p.loopDir, '.state.loop'), 'utf8')
const roleOf = (report: Record<string, unknown>, role: string) =>
  (report as { loops: { roles: { role: string }[] }[] }).loops[0]?.roles.find((one) => one.role === role)

describe('the floor', () => {
  test('8 GiB are refused before any session, nothing is written, and a person’s word is enough', async () => {
    using p = await cardProject(8192)
    const { machine: m } = p
    const before = stateText(p)
    const gate = await m.call(['check-gate', p.loop])
    expect(gate.code).toBe(3)
    expect(gate.json()).toMatchObject({
      ok: false,
      reason: 'refused:context_floor',
      halt_reason: null,
      detail:
        'context window below 16k floor (implement: 13926 tokens of tier 32000, by nvidia-smi, verify: 13926 tokens of tier 32000, by nvidia-smi, orchestrate: 13926 tokens of tier 16000, by nvidia-smi)',
      fix: expect.stringContaining('backend: remote in config.md'),
    })
    const tick = await m.call(['tick', p.loop])
    expect(tick.code).toBe(3)
    expect(tick.stdout + tick.stderr).toContain('context window below 16k floor')
    expect(stateText(p)).toBe(before)
    expect(existsSync(join(p.loopDir, 'outputs', 'tick1-implement-prompt.md'))).toBe(false)
    const doctor = await m.call(['doctor'])
    expect(doctor.code).toBe(3)
    const found = doctor.stdout.replace(/\s+/g, ' ')
    expect(found).toContain('8.0 GiB, NVIDIA GeForce RTX 3080 (nvidia-smi): 13926 tokens of context')
    expect(found).toContain('loop nightly context window below 16k floor')

    for (const line of ['context_override: 16000', 'backend: remote']) {
      m.config(line)
      expect(await m.gate()).toMatchObject({ ok: true })
    }
  })

  test('10 GiB are accepted, 17,408 tokens: one headroom and not two', async () => {
    using p = await cardProject(10_240)
    const { machine: m } = p
    expect(await m.gate()).toMatchObject({ ok: true, reason: 'ok' })
    const report = await m.vram()
    expect(report).toMatchObject({
      detected: { bytes: 10 * gib, source: 'nvidia-smi', memory: 'own' },
      available: 17_408,
      floor: 16_000,
      backend: 'auto',
      smallest: 16_000,
      fix: '',
    })
    const window = { tier: 32_000, effective: 17_408, available: 17_408, source: 'probe', via: 'nvidia-smi' }
    expect(roleOf(report, 'implement')).toEqual({ role: 'implement', ...window })
    expect(roleOf(report, 'verify')).toEqual({ role: 'verify', ...window })
    expect(roleOf(report, 'orchestrate')).toMatchObject({ tier: 16_000, effective: 16_000 })
    await must(m.call(['tick', p.loop]))
    expect(p.state().iteration_count).toBe(1)
    const status = await must(m.call(['status', p.loop]))
    expect(status.stdout.replace(/\s+/g, ' ')).toContain(
      'verify 17408 of 32000 tokens (nvidia-smi), orchestrate 16000 tokens (nvidia-smi); memory: 10.0 GiB',
    )
    const { loops } = (await must(m.call(['status', p.loop, '--json']))).json() as { loops: object[] }
    expect(loops[0]).toMatchObject({ context: { ok: true, detected: { bytes: 10 * gib }, server: null } })
  })

  test('24 GiB give 41,779 tokens, and a tier is never raised', async () => {
    const tier = { prompt: 'loop-verifier.md', tier: 128_000, model: null }
    using p = await cardProject(24_576, { loop: { roles: { verify: tier } } })
    const report = await p.machine.vram()
    expect(roleOf(report, 'verify')).toMatchObject({ tier: 128_000, effective: 41_779 })
    expect(roleOf(report, 'implement')).toMatchObject({ tier: 32_000, effective: 32_000 })
  })

  test('no card, a service elsewhere, a harness that only drives one: the tier as declared', async () => {
    using p = await cardProject(0)
    const { machine: m } = p
    expect(await m.gate()).toMatchObject({ ok: true })
    expect(roleOf(await m.vram(), 'verify')).toMatchObject({
      effective: 32_000,
      source: 'unknown',
      via: null,
    })
    m.card(8192)
    m.config('backend: remote')
    expect(roleOf(await m.vram('--refresh'), 'verify')).toMatchObject({ effective: 32_000, source: 'remote' })
    m.config('backend: auto')
    p.configure({ harness: { use: 'claude', command: null } })
    expect(roleOf(await m.vram(), 'verify')).toMatchObject({
      effective: 32_000,
      source: 'remote',
      via: 'harness',
    })
  })

  test('an override under the floor is refused, for all roles and for one', async () => {
    using p = await cardProject(24_576)
    const { machine: m } = p
    for (const line of ['context_override: 15999', 'context_override.verify: 8000']) {
      m.config(line)
      expect(await m.gate()).toMatchObject({
        reason: 'refused:context_floor',
        detail: expect.stringContaining('by config.md'),
        fix: expect.stringContaining('context_override in config.md'),
      })
    }
    m.config('context_override: 15999', 'context_override.verify: 32000', 'context_override.implement: 32000')
    expect((await m.gate()).detail).toBe(
      'context window below 16k floor (orchestrate: 15999 tokens of tier 16000, by config.md)',
    )
  })
})

describe('a look at the memory', () => {
  test('is kept for a day, and made again when it is asked for', async () => {
    using p = await cardProject(10_240)
    const { machine: m } = p
    const cache = join(p.root, '.automaton', 'cache', 'vram.json')
    for (let times = 0; times < 3; times++) await m.gate()
    await m.vram()
    expect(m.runs()).toBe(1)
    expect(JSON.parse(readFileSync(cache, 'utf8'))).toMatchObject({ schema: 1, bytes: 10 * gib })
    expect(p.git('status', '--porcelain', '--', '.automaton/cache')).toBe('')
    m.card(8192)
    expect(await m.gate()).toMatchObject({ ok: true })
    expect(await m.vram('--refresh')).toMatchObject({
      available: 13_926,
      fix: expect.stringContaining('backend: remote'),
    })
    expect(await m.gate()).toMatchObject({ reason: 'refused:context_floor' })
    expect(m.runs()).toBe(2)
    const old = {
      ...JSON.parse(readFileSync(cache, 'utf8')),
      at: new Date(Date.now() - 86_400_001).toISOString(),
    }
    writeFiles(p.root, { '.automaton/cache/vram.json': JSON.stringify(old) })
    m.card(10_240)
    expect(await m.gate()).toMatchObject({ ok: true })
    expect(m.runs()).toBe(3)
  })

  test('a tool that hangs is unknown after five seconds, and nothing of it is left', async () => {
    using p = await cardProject(0)
    const { machine: m } = p
    m.tool(`echo $$ > '${p.home}/pid'; exec sleep 600`)
    const started = performance.now()
    const { detected, available } = await m.vram()
    expect(performance.now() - started).toBeLessThan(30_000)
    expect(available).toBeNull()
    expect(detected).toMatchObject({ bytes: null, source: null })
    expect((detected as { tried: object[] }).tried[0]).toEqual({
      probe: 'nvidia-smi',
      outcome: 'it took longer than 5 seconds',
    })
    expect(existsSync(`/proc/${readFileSync(join(p.home, 'pid'), 'utf8').trim()}`)).toBe(false)
    expect(await m.gate()).toMatchObject({ ok: true })
    expect(m.runs()).toBe(1)
  })

  test('runs nothing that a session could have planted', async () => {
    using p = await cardProject(0)
    const { machine: m } = p
    const folders = [p.root, join(p.root, 'node_modules', '.bin'), join(p.worktree, 'bin')]
    for (const folder of folders) m.plant(folder, "echo 'None, N/A, 999999, planted'")
    const PATH = `${folders.join(':')}:.:bin:${process.env.PATH}`
    const report = (await must(m.call(['vram', '--refresh', '--json'], { env: { PATH } }))).json()
    expect(report).toMatchObject({ detected: { bytes: null } })
    await m.call(['check-gate', p.loop], { env: { PATH } })
    expect(m.runs()).toBe(0)
  })

  test('is refused to a session, whose status shows no context', async () => {
    const implement = [
      'automaton vram > "$AUTOMATON_OUTPUT" 2>&1; echo "exit $?" >> "$AUTOMATON_OUTPUT"',
      'automaton status --json >> "$AUTOMATON_OUTPUT"',
      'echo more >> src/work.txt',
    ].join('\n')
    using p = await cardProject(10_240, { scenario: { implement } })
    await must(p.machine.call(['tick', p.loop]))
    const left = readFileSync(join(p.loopDir, 'outputs', 'tick1-implement.md'), 'utf8')
    expect(left).toContain('refused inside a tick (automaton vram)')
    expect(left).toContain('exit 6')
    expect(left).toContain('"context":null')
    expect(p.machine.runs()).toBe(1)
  })

  test('outside of a project nothing is kept', async () => {
    using p = await cardProject(10_240)
    const cwd = join(p.home, 'elsewhere')
    mkdirSync(cwd)
    const call = await must(p.machine.call(['vram'], { cwd, home: p.home }))
    expect(call.stdout).toContain('10.0 GiB, NVIDIA GeForce RTX 3080 (nvidia-smi)')
    expect(call.stdout).toContain('a new loop')
    await must(p.machine.call(['vram'], { cwd, home: p.home }))
    expect(p.machine.runs()).toBe(2)
  })
})

describe('a local server that config.md names', () => {
  const open: { stop(force: boolean): unknown }[] = []
  afterEach(() => {
    for (const server of open.splice(0)) server.stop(true)
  })

  function ollama(tokens: () => number) {
    const models = () => [{ name: 'qwen3:8b', context_length: tokens() }]
    const fetch = () => Response.json({ models: models() })
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch })
    open.push(server)
    return `http://127.0.0.1:${server.port}`
  }

  test('wins over arithmetic, in both directions; when it is gone, memory counts', async () => {
    let tokens = 32_768
    const url = ollama(() => tokens)
    using p = await cardProject(8192)
    const { machine: m } = p
    m.config(`local_endpoint: ${url}/v1`)
    expect(await m.gate()).toMatchObject({ ok: true })
    expect(roleOf(await m.vram(), 'verify')).toMatchObject({
      effective: 32_000,
      available: 32_768,
      source: 'server',
      via: `ollama at ${url}`,
    })
    tokens = 4096
    m.card(49_152)
    expect(await m.gate()).toMatchObject({
      reason: 'refused:context_floor',
      detail: expect.stringContaining(`verify: 4096 tokens of tier 32000, by ollama at ${url}`),
      fix: expect.stringContaining('load the model with a context of 16000 or more'),
    })
    for (const server of open.splice(0)) server.stop(true)
    const report = await m.vram('--refresh')
    expect(roleOf(report, 'verify')).toMatchObject({ effective: 32_000, source: 'probe' })
    expect(report.server).toMatchObject({
      url,
      models: [],
      problem: expect.stringContaining('cannot be reached'),
    })
  })

  test('a model that it loads with less in the middle of a tick gets no session', async () => {
    let asked = 0
    const url = ollama(() => (++asked <= 2 ? 32_768 : 8192))
    using p = await cardProject(0)
    p.machine.config(`local_endpoint: ollama ${url}`)
    const tick = await p.machine.call(['tick', p.loop, '--json'])
    expect(tick.code).toBe(5)
    expect(tick.json()).toMatchObject({
      outcome: 'session_failed',
      role: 'verify',
      why: `context window below 16k floor (verify: 8192 tokens of tier 32000, by ollama at ${url})`,
    })
    expect(existsSync(join(p.loopDir, 'outputs', 'tick1-verify-prompt.md'))).toBe(false)
  })
})

describe('prompts', () => {
  const prompt = (p: TestProject, role: string) =>
    readFileSync(join(p.loopDir, 'outputs', `tick1-${role}-prompt.md`), 'utf8')

  test('fit half of the window; what is cut is marked in the text and said in the answer and the log', async () => {
    const implement = [
      'i=0; while [ $i -lt 2000 ]; do echo "line $i of a very long change that nobody will read to its end"; i=$((i+1)); done > src/work.txt',
      'echo "Did the work." > "$AUTOMATON_OUTPUT"',
    ].join('\n')
    using p = await cardProject(10_240, { scenario: { implement } })
    const tick = await must(p.machine.call(['tick', p.loop, '--json']))
    const verify = prompt(p, 'verify')
    expect(verify.length).toBeLessThanOrEqual((17_408 / 2) * 4)
    expect(verify.length).toBeGreaterThan(30_000)
    expect(verify).toMatch(/\[… \d+ of \d+ characters cut …\]/)
    expect(verify).toContain('Your final message is only this JSON object')
    const said = expect.stringMatching(
      /^verify prompt: diff was cut from \d+ to \d+ characters to fit a window of 17408 tokens \(nvidia-smi\)$/,
    )
    expect((tick.json() as { warnings: string[] }).warnings).toContainEqual(said)
    expect(p.log().at(-1).data.warnings).toContainEqual(said)
  })

  test('a brief of megabytes is cut and not refused', async () => {
    using p = await cardProject(10_240)
    const line = 'A line of a brief that somebody pasted a whole log into.\n'
    writeFiles(p.root, { '.automaton/tasks/fix-it/TASK.md': `# Fix it\n\n${line.repeat(100_000)}` })
    await must(p.machine.call(['tick', p.loop]))
    expect(prompt(p, 'implement').length).toBeLessThanOrEqual((17_408 / 2) * 4)
    expect(prompt(p, 'implement')).toContain('# Fix it')
  })

  test('decompose takes its size from the smallest window', async () => {
    const roles = {
      implement: { prompt: 'decompose.md', tier: 32_000, model: null },
      orchestrate: { prompt: 'loop-orchestrate.md', tier: 32_000, model: null, mode: 'session' },
    }
    using p = await cardProject(10_240, { loop: { roles } })
    await must(p.machine.call(['tick', p.loop]))
    expect(prompt(p, 'implement')).toContain('One task must fit a session with 17408 tokens of context')
  })

  test('a plugin’s hook counts instead of the estimate', async () => {
    const counter = `import { definePlugin } from 'automaton'
export default definePlugin({
  name: 'counter', api: 1,
  setup: () => ({ hooks: { 'tokens:estimate': ({ text }) => text.length } }),
})
`
    using p = await pluginProject({ plugins: { 'counter.ts': counter }, trusted: ['counter'] })
    const m = machine(p)
    m.card(10_240)
    const line = 'A line of a brief that somebody pasted a whole log into.\n'
    writeFiles(p.root, { '.automaton/tasks/fix-it/TASK.md': line.repeat(2000) })
    await must(m.call(['tick', p.loop]))
    expect(prompt(p, 'implement').length).toBeLessThanOrEqual(17_408 / 2)
    expect(prompt(p, 'implement').length).toBeGreaterThan(0.8 * (17_408 / 2))
  })

  test.each([
    ['throws', "{ throw new Error('no tokenizer') }"],
    ['answers no number', "'many'"],
    ['answers less than nothing', '-1'],
  ])('a hook that %s is passed over', async (_, body) => {
    const counter = `import { definePlugin } from 'automaton'
export default definePlugin({ name: 'counter', api: 1, setup: () => ({ hooks: { 'tokens:estimate': () => ${body} } }) })
`
    using p = await pluginProject({ plugins: { 'counter.ts': counter }, trusted: ['counter'] })
    const tick = await must(p.tick())
    expect(tick.stderr).toContain('plugin "counter" failed in hook tokens:estimate')
    expect(p.state().iteration_count).toBe(1)
  })
})
