import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { livingSessions } from '../helpers/invariants.ts'
import { goodAgent, makeProject, must, type TestProject } from '../helpers/project.ts'
import { start } from './loops.ts'

setDefaultTimeout(30_000)

const mebibytes = process.env.TEST_FULL ? 2048 : 300

/**
 * Runs one tick and tells how much memory automaton took at most, in MiB. The kernel's own account of an ended process
 * would hold the memory of the test runner, which it was forked from.
 */
async function measuredTick(p: TestProject) {
  const tick = start(p, 'tick', p.loop, '--json')
  let peak = 0
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${tick.pid}/status`, 'utf8')
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    } catch {
      // It has ended.
    }
  }, 10)
  const stdout = await new Response(tick.stdout).text()
  await tick.exited
  clearInterval(look)
  expect(peak).toBeGreaterThan(10)
  return { code: tick.exitCode, json: JSON.parse(stdout), peak }
}

describe('a session that prints', () => {
  test.each([
    [`${mebibytes} MiB in lines`, `yes "a line of output" | head -c ${mebibytes}M`],
    [`${mebibytes} MiB in one line`, `head -c ${mebibytes}M /dev/zero | tr '\\0' x`],
    ['30 MiB that are no text', 'head -c 30M /dev/urandom'],
  ])(
    '%s costs little memory, and its log is bounded',
    async (_, flood) => {
      using p = await makeProject({
        loop: { harness: { timeout_seconds: 120 } },
        scenario: { 'implement-1': `${flood}\n${goodAgent.implement}` },
      })
      const tick = await measuredTick(p)
      expect(tick.code).toBe(0)
      expect(tick.json).toMatchObject({ outcome: 'worked', to: 'code_review' })
      expect(tick.peak).toBeLessThan(200)
      expect(statSync(join(p.loopDir, 'outputs', 'tick1-implement.log')).size).toBeLessThan(16 << 20)
    },
    180_000,
  )

  test('terminal escapes: they are shown harmless', async () => {
    const evil = 'printf "\\033]0;owned\\007\\033[2Jgone\\r\\n" >&2; exit 3'
    using p = await makeProject({ scenario: { 'implement-1': evil } })
    const call = await p.tick()
    expect(call.code).toBe(5)
    expect(`${call.stdout}${call.stderr}`).not.toContain('\x1b')
    const log = await p.call(['log', p.loop, '--tick', '1'])
    expect(log.stdout).not.toContain('\x1b')
  })
})

describe('a prompt', () => {
  test('file of 5 MB is refused before anything starts', async () => {
    using p = await makeProject()
    writeFileSync(join(p.loopDir, 'big.md'), 'Do the work, please. '.repeat(250_000))
    p.configure({ roles: { implement: { prompt: 'big.md', tier: 32_000, model: null } } })
    const call = await p.tick()
    expect(call.code).toBe(2)
    expect(call.stdout).toContain('longer than 256 KiB')
    expect(existsSync(join(p.loopDir, 'outputs', 'tick1-implement-prompt.md'))).toBe(false)
  })

  test('too long for an argument goes by a file, also where the harness wanted it as an argument', async () => {
    using p = await makeProject({
      scenario: { 'implement-1': `wc -c < "$2" > "$AUTOMATON_HOME.size"\n${goodAgent.implement}` },
    })
    writeFileSync(join(p.loopDir, 'big.md'), 'Do the work, please. '.repeat(10_000))
    const [agent, scenario] = JSON.parse(readFileSync(join(p.loopDir, 'loop.json'), 'utf8')).harness.command
    const roles = { implement: { prompt: 'big.md', tier: 64_000, model: null } }
    p.configure({ harness: { command: [agent, scenario, '{prompt}'] }, roles })
    await must(p.tick())
    expect(Number(readFileSync(`${p.home}/.automaton.size`, 'utf8'))).toBeGreaterThan(120_000)
    p.configure({ harness: { command: [agent, scenario, '{prompt_content}'] } })
    p.script({ 'implement-2': `echo "$2" > "$AUTOMATON_HOME.told"\n${goodAgent.implement}` })
    await must(p.tick())
    expect(readFileSync(`${p.home}/.automaton.told`, 'utf8')).toContain('tick2-implement-prompt.md')
  })

  test('that the session never reads costs nothing', async () => {
    using p = await makeProject({ scenario: { 'implement-1': `exec <&-\n${goodAgent.implement}` } })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked', to: 'code_review' })
  })
})

describe('a program that is not there', () => {
  const cases: [string, (p: TestProject) => string[], number, string][] = [
    ['a harness that nobody installed', () => ['no-such-agent'], 5, 'no-such-agent'],
    ['a harness that is no program', (p) => file(p, 'plain', '#!/bin/sh\n', 0o644), 5, 'plain'],
    [
      'a harness without its interpreter',
      (p) => file(p, 'lost', '#!/no/such/shell\n', 0o755),
      5,
      'interpreter',
    ],
    ['a harness in no format at all', (p) => file(p, 'junk', '\x7fELF junk', 0o755), 5, 'neither a binary'],
  ]
  for (const [name, command, code, why] of cases) {
    test(`${name} is named, and no iteration is counted`, async () => {
      using p = await makeProject()
      p.configure({ harness: { command: command(p) } })
      const call = await p.tick()
      expect(call.code).toBe(code)
      expect(`${call.stdout}${call.stderr}`.replaceAll(/\s+/g, ' ')).toContain(why)
      expect(p.state().iteration_count).toBe(0)
    })
  }
})

describe('a verdict', () => {
  test.each([
    ['nothing at all', 'true'],
    ['prose', 'echo "Looks good to me, pass: true"'],
    ['two that differ', `echo '{"pass": true, "score": 1}'; echo 'or rather {"pass": false, "score": 0}'`],
    ['a number that is none', `echo '{"pass": true, "score": 1'`],
    ['a list', `echo '[true, 1]'`],
    ['no pass', `echo '{"score": 1}'`],
    ['50 MiB of brackets', `head -c 50M /dev/zero | tr '\\0' '{'`],
  ])(
    'that is %s is never a pass',
    async (_, say) => {
      using p = await makeProject({ scenario: { verify: say } })
      const call = await p.tick('--json')
      expect([4, 5]).toContain(call.code ?? -1)
      expect(p.task().phase).toBe('implement')
      expect(p.state().score_history).toEqual([])
    },
    30_000,
  )

  test.each([
    ['a pass that is a word', `{"pass": "no", "score": 1}`],
    ['a pass under another prototype', `{"__proto__": {"pass": true}, "pass": false}`],
    ['first a fail, then a pass, of one name', `{"pass": true, "pass": false}`],
  ])('with %s fails', async (_, verdict) => {
    using p = await makeProject({ scenario: { verify: `echo '${verdict}'` } })
    const call = await p.tick('--json')
    expect([0, 4]).toContain(call.code ?? -1)
    expect(p.task().phase).toBe('implement')
    expect(p.state().last_verdict?.pass ?? false).toBe(false)
  })

  test.each([['NaN'], ['1e999'], ['"0.9"'], ['null'], ['-7'], ['true']])(
    'score %s stays between 0 and 1',
    async (score) => {
      using p = await makeProject({ scenario: { verify: `echo '{"pass": true, "score": ${score}}'` } })
      await must(p.tick())
      const [kept] = p.state().score_history
      expect(kept).toBeGreaterThanOrEqual(0)
      expect(kept).toBeLessThanOrEqual(1)
    },
  )

  test('of a verifier that exits with an error is not read, whatever it says', async () => {
    using p = await makeProject({ scenario: { verify: `echo '{"pass": true, "score": 1}'; exit 1` } })
    expect((await p.tick()).code).toBe(5)
    expect(p.task().phase).toBe('implement')
    expect(p.state().last_verdict).toBeNull()
  })

  test('of the last tick is not taken for this one’s', async () => {
    using p = await makeProject({ scenario: { 'verify-2': 'true' } })
    await must(p.tick())
    expect(existsSync(join(p.loopDir, 'outputs', 'tick1-verdict.json'))).toBe(true)
    expect((await p.tick()).code).toBe(4)
    expect(p.state().halt.reason).toBe('verifier_failed')
  })
})

test.each([
  ['a negative sum', '{"usd": -5, "tokens": -5}'],
  ['a word', '{"usd": "free", "tokens": "none"}'],
  ['too much for a number', '{"usd": 1e999, "tokens": 1e999}'],
  ['no JSON', 'five dollars'],
])('a cost of %s never gives money back, and counts as unknown', async (_, cost) => {
  using p = await makeProject({
    loop: { brakes: { max_budget_usd: 100 } },
    scenario: { 'implement-1': `echo '${cost}' > "$AUTOMATON_COST_FILE"\n${goodAgent.implement}` },
  })
  expect((await p.tick()).code).toBe(4)
  expect(p.state()).toMatchObject({
    cost: { usd: 0, tokens: 0, reported: false },
    halt: { reason: 'budget_exhausted' },
  })
})

test('no open file of the tick reaches a session', async () => {
  using p = await makeProject({
    scenario: { 'implement-1': `ls -l /proc/self/fd > "$AUTOMATON_HOME.fds"\n${goodAgent.implement}` },
  })
  await must(p.tick())
  expect(readFileSync(`${p.home}/.automaton.fds`, 'utf8')).not.toContain(p.loopDir)
  expect(livingSessions(p)).toEqual([])
})

function file(p: TestProject, name: string, text: string, mode: number): string[] {
  const path = join(p.home, name)
  writeFileSync(path, text, { mode })
  return [path]
}
