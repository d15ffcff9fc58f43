import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { badEnd, claudeProject, goodEnd } from '../helpers/claude.ts'
import { makeProject, must } from '../helpers/project.ts'

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds
const limited = (resetsAt: number) => [
  { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt } },
  badEnd('API Error: 429 rate limited', { api_error_status: 429 }),
]

describe('a rate limit whose end is known', () => {
  test('is neither an iteration nor an error: the loop waits, says until when, and then goes on', async () => {
    using p = await claudeProject()
    const until = inSeconds(1800)
    p.says('implement', { lines: limited(until), exit: 1 })
    const call = await p.tick('--json')
    expect(call.json()).toMatchObject({
      outcome: 'rate_limited',
      role: 'implement',
      until: new Date(until * 1000).toISOString(),
    })
    expect(call.code).toBe(0)
    expect(p.state()).toMatchObject({
      status: 'running',
      iteration_count: 0,
      consecutive_errors: 0,
      not_before: new Date(until * 1000).toISOString(),
    })
    expect(p.log().at(-1)).toMatchObject({ type: 'wait', data: { role: 'implement' } })

    const said = new Date(until * 1000).toISOString().replace('T', ' ').replace('.000Z', 'Z')
    expect((await p.call(['status'])).stdout).toContain(`until ${said}`)
    expect((await p.call(['loop-list'])).stdout).toContain(`waits until ${said}`)
    expect((await p.call(['loop-list', '--json'])).json()).toMatchObject({
      loops: [{ waits_until: new Date(until * 1000).toISOString() }],
    })
    expect((await p.call(['log', p.loop])).stdout).toContain('waits until')

    p.configure({ schedule: { interval_seconds: 1 } })
    expect((await p.tick('--scheduled', '--json')).code).toBe(0)
    expect(p.log().at(-1).type).toBe('wait')

    // A person may know better, and a tick that works ends the waiting.
    p.says('implement', { lines: [goodEnd('Did it.')], script: 'echo x >> src/work.txt' })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked' })
    expect(p.state()).toMatchObject({ not_before: null, iteration_count: 1 })
  })

  test('does not halt, however often it comes in a row, and in whichever session', async () => {
    using p = await claudeProject({ loop: { brakes: { max_consecutive_errors: 2 } } })
    p.says('verify', { lines: limited(inSeconds(600)), exit: 1 })
    for (let i = 0; i < 4; i++) {
      expect((await p.tick('--json')).json()).toMatchObject({ outcome: 'rate_limited', role: 'verify' })
    }
    expect(p.state()).toMatchObject({ status: 'running', iteration_count: 0, consecutive_errors: 0 })
  })

  test('is waited for a day at most', async () => {
    using p = await claudeProject()
    p.says('implement', { lines: limited(inSeconds(20 * 86_400)), exit: 1 })
    await must(p.tick())
    const wait = Date.parse(p.state().not_before) - Date.now()
    expect(wait).toBeLessThanOrEqual(86_400_000)
    expect(wait).toBeGreaterThan(86_000_000)
  })

  test('one whose end is not known, or has passed, is an error like others', async () => {
    using p = await claudeProject()
    p.says('implement', { lines: [badEnd('API Error: 429', { api_error_status: 429 })], exit: 1 })
    expect((await p.tick('--json')).json()).toMatchObject({ outcome: 'session_failed', errorsInARow: 1 })
    p.says('implement', { lines: limited(inSeconds(-60)), exit: 1 })
    expect((await p.tick('--json')).json()).toMatchObject({ outcome: 'session_failed', errorsInARow: 2 })
    expect(p.state().not_before).toBeNull()
  })
})

describe('what only a person can put right', () => {
  test.each([
    ['credit', 'Credit balance is too low', 400, 'out of credit'],
    ['login', 'Invalid API key · Please run /login', 401, 'not logged in'],
  ])(
    '%s halts at once, says what to do, and after approve the next tick runs',
    async (kind, text, status, words) => {
      using p = await claudeProject()
      p.says('implement', { lines: [badEnd(text, { api_error_status: status })], exit: 1 })
      const call = await p.tick()
      expect(call.code).toBe(4)
      expect(call.stdout).toContain(words)
      expect(p.state()).toMatchObject({
        iteration_count: 0,
        halt: { reason: 'human_intervention', detail: kind },
      })
      expect((await p.call(['status'])).stdout).toContain(words)
      await must(p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id]))
      p.says('implement', { lines: [goodEnd('Did it.')], script: 'echo x >> src/work.txt' })
      expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked' })
    },
  )
})

describe('money', () => {
  const usage = { input_tokens: 200_000, output_tokens: 20_000, cache_read_input_tokens: 100_000 }
  const priced = (p: { root: string }, prices: object) =>
    writeFileSync(join(p.root, '.automaton', 'config.json'), JSON.stringify({ prices }))

  test('tokens of a model in the price table are money, and count against the cap', async () => {
    using p = await claudeProject({ loop: { brakes: { max_budget_usd: 2.4 } } })
    priced(p, { big: { input: 5, output: 10, cached: 0.5 } })
    p.configure({ roles: { implement: { model: 'big', prompt: 'loop-implement.md', tier: 32_000 } } })
    p.says('implement', { lines: [goodEnd('Did it.', { usage })], script: 'echo x >> src/work.txt' })
    p.says('verify', { lines: [goodEnd('{"pass": true, "score": 1}', { total_cost_usd: 0.5 })] })
    p.says('orchestrate', { lines: [goodEnd('hold', { total_cost_usd: 0 })] })
    expect((await must(p.tick('--json'))).json()).toMatchObject({
      spent: { usd: 1.75, tokens: 320_000, reported: true },
    })
    // Work that would start over the cap is not started: 1.75 + 1.25 is over 2.4 before the verify session.
    const second = await p.tick('--json')
    expect(second.code).toBe(4)
    expect(second.json()).toMatchObject({ outcome: 'worked', verdict: null, to: 'implement' })
    expect(p.state()).toMatchObject({
      iteration_count: 2,
      cost: { usd: 3, tokens: 640_000, reported: true },
      halt: { reason: 'budget_exhausted', detail: '3.00 of 2.4 USD used' },
    })
  })

  test('a model that is not in the table costs what nobody knows, and the cap halts', async () => {
    using p = await claudeProject({ loop: { brakes: { max_budget_usd: 5 } } })
    priced(p, { small: { input: 1, output: 1 } })
    p.says('implement', { lines: [goodEnd('Did it.', { usage })], script: 'echo x >> src/work.txt' })
    expect((await p.tick('--json')).code).toBe(4)
    expect(p.state().halt).toMatchObject({ reason: 'budget_exhausted', detail: 'budget_unknown' })
  })

  test('a session cannot talk its price down by its cost file', async () => {
    using p = await claudeProject()
    priced(p, { big: { input: 5, output: 10, cached: 0.5 } })
    p.configure({ roles: { implement: { model: 'big', prompt: 'loop-implement.md', tier: 32_000 } } })
    const script = `echo x >> src/work.txt\necho '{"usd": 0.01}' > "$AUTOMATON_COST_FILE"`
    p.says('implement', { lines: [goodEnd('Did it.', { usage })], script })
    await must(p.tick())
    expect(p.state().cost.usd).toBe(1.25)
  })

  test('tokens that only the cost file tells are money too, so that a cap holds for any program', async () => {
    using p = await makeProject({ loop: { brakes: { max_budget_usd: 4 } } })
    priced(p, { big: { input: 1, output: 5 } })
    p.configure({ roles: { implement: { model: 'big', prompt: 'loop-implement.md', tier: 32_000 } } })
    const cost = `echo '{"usd": null, "tokens": 1000000}' > "$AUTOMATON_COST_FILE"`
    p.script({ implement: `echo x >> src/work.txt; echo did > "$AUTOMATON_OUTPUT"; ${cost}` })
    expect((await p.tick('--json')).code).toBe(4)
    expect(p.state()).toMatchObject({
      cost: { usd: 5, tokens: 1_000_000, reported: true },
      halt: { reason: 'budget_exhausted', detail: '5.00 of 4 USD used' },
    })
  })

  test('a mistake in the price table refuses the tick, and names its place', async () => {
    using p = await claudeProject()
    priced(p, { big: { input: 5 } })
    const call = await p.tick('--json')
    expect(call.code).toBe(2)
    expect(JSON.stringify(call.json())).toContain('prices.big.output is missing')
  })
})
