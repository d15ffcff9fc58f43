import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pluginProject, pluginText } from '../helpers/plugins.ts'
import type { TestProject } from '../helpers/project.ts'

setDefaultTimeout(60_000)

/** A verifier that says when it is asked, answers when it may, and runs nothing of the agent's before that. */
const slow = (runs: string) =>
  pluginText(
    'slow',
    'verifier',
    `async verify(ctx) {
       writeFileSync(ctx.project + '/../here', '')
       while (!existsSync(ctx.project + '/../go')) await new Promise((done) => setTimeout(done, 10))
       ${runs}
       return { verdict: { pass: true, score: 0.9, reasons: ['fine'], next_hint: '' }, warnings: [] }
     },`,
    `import { existsSync, writeFileSync } from 'node:fs'`,
  )

/** One tick, in which something changes while no session runs. */
async function changedMeanwhile(o: { runs?: string; mode?: string }, change: (p: TestProject) => void) {
  const p = await pluginProject({
    plugins: { 'slow.ts': slow(o.runs ?? '') },
    trusted: ['slow'],
    loop: {
      verifiers: [{ use: 'slow' }],
      roles: {
        orchestrate: { prompt: 'loop-orchestrate.md', tier: 16_000, model: null, mode: o.mode ?? 'rules' },
      },
    },
  })
  const tick = p.tick()
  const here = join(p.root, '..', 'here')
  const ended = tick.then(() => true)
  while (!existsSync(here) && !(await Promise.race([ended, Bun.sleep(10).then(() => false)])));
  change(p)
  writeFileSync(join(p.root, '..', 'go'), '')
  return { p, call: await tick }
}

const lift = (p: TestProject) => {
  const file = join(p.loopDir, 'loop.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"max_iterations": \d+/, '"max_iterations": 999'))
}

const plant = (p: TestProject) => writeFileSync(join(p.root, '.git', 'hooks', 'post-merge'), 'x')

const asks = `await ctx.run(['true'])`
const cases: [string, Parameters<typeof changedMeanwhile>[0], (p: TestProject) => void, string][] = [
  ['a cap, before a check', { runs: asks }, lift, 'loop.json'],
  ['a hook, before a check', { runs: asks }, plant, 'hooks/post-merge'],
  ['a cap, before the tick settles', {}, lift, 'loop.json'],
  ['a hook, before the tick settles', {}, plant, 'hooks/post-merge'],
  ['a cap, before the orchestrate session', { mode: 'session' }, lift, 'loop.json'],
  ['a cap, before a verify session', { runs: `await ctx.session('verify')` }, lift, 'loop.json'],
]

for (const [what, options, change, name] of cases) {
  test.concurrent(`what changes while no session runs is caught by the next look: ${what} (S10, S14)`, async () => {
    const { p, call } = await changedMeanwhile(options, change)
    using _ = p
    expect(p.state().halt).toMatchObject({ reason: 'drift_detected', detail: `tamper:${name}` })
    expect(call.code).toBe(6)
  })
}

for (const mode of ['rules', 'session']) {
  test.concurrent(`what automaton itself writes between its looks is no change (${mode})`, async () => {
    const { p, call } = await changedMeanwhile({ runs: asks, mode }, () => {})
    using _ = p
    expect(call.code).toBe(0)
    expect(p.task().phase).toBe('code_review')
    expect(p.state().status).toBe('running')
  })
}
