import { describe, expect, test } from 'bun:test'
import type { Death } from '../../src/api/hooks.ts'
import { firstBrake } from '../../src/machine/brakes.ts'
import {
  abandonTick,
  approveLoop,
  failTick,
  haltLoop,
  settle,
  type TickFacts,
} from '../../src/machine/loop.ts'
import type { LoopState } from '../../src/machine/state.ts'
import { at, busyState, later, makeBrakes, makeTick } from './builders.ts'

const verdict = (pass: boolean, score: number) => ({ pass, score, reasons: [], next_hint: '' })

function halted(reason: Death, detail = '', state: LoopState = busyState()): LoopState {
  return haltLoop(state, { id: 'h1', reason, detail, files: ['x'], at: later })
}

/** Ticks one after the other, each with the changes given. */
function settleAll(ticks: Partial<TickFacts>[], state = busyState()): LoopState {
  return ticks.reduce((now, changes) => settle(now, makeTick(changes)), state)
}

describe('settle', () => {
  test('a worked tick changes exactly this', () => {
    const state = busyState({
      iteration_count: 4,
      wall_seconds: 100,
      cost: { usd: 1, tokens: 10, reported: true },
      consecutive_errors: 2,
      incomplete_ticks: 1,
      base_sha: 'b',
      verified_sha: 'v1',
      phase_sha: 'p1',
    })
    expect(settle(state, makeTick({ verifiedSha: 'v2' }))).toEqual({
      ...state,
      iteration_count: 5,
      wall_seconds: 160,
      cost: { usd: 1.5, tokens: 1010, reported: true },
      last_task: 'fix-login',
      score_history: [0.4],
      fail_streak: 1,
      consecutive_errors: 0,
      incomplete_ticks: 0,
      next_hint: 'look at the tests',
      last_verdict: {
        pass: false,
        score: 0.4,
        reasons: [],
        next_hint: 'look at the tests',
        tick: 5,
        phase: 'implement',
        task: 'fix-login',
      },
      verified_sha: 'v2',
      last_tick_at: at,
      last_work_at: later,
      updated_at: later,
    })
  })

  test('the last tick is its start, so that a long tick does not shift the schedule', () => {
    expect(settleAll([{}])).toMatchObject({ last_tick_at: at, last_work_at: later })
  })

  test('scores beyond the window fall out at the front', () => {
    const state = settleAll([0.1, 0.2, 0.3, 0.4].map((score) => ({ verdict: verdict(false, score) })))
    expect(state).toMatchObject({ score_history: [0.2, 0.3, 0.4], fail_streak: 4 })
  })

  test('a window of 0 or 1 keeps the last score', () => {
    for (const window of [0, 1]) {
      const state = settleAll([0.1, 0.2].map((score) => ({ verdict: verdict(false, score), window })))
      expect(state.score_history).toEqual([0.2])
    }
  })

  test('a pass ends the streak of failures', () => {
    const state = settleAll([{}, {}, { verdict: verdict(true, 1) }])
    expect(state).toMatchObject({ fail_streak: 0, score_history: [0.4, 0.4, 1] })
  })

  test('another phase starts a new history and a new streak', () => {
    const state = settleAll([{}, {}, { phase: 'code_review', phaseAfter: 'code_review' }])
    expect(state).toMatchObject({ fail_streak: 1, score_history: [0.4] })
  })

  test('another task starts a new history and a new streak', () => {
    expect(settleAll([{}, {}, { task: 'other' }])).toMatchObject({
      fail_streak: 1,
      score_history: [0.4],
      current_task: 'other',
    })
  })

  test('the same phase after another one is a new round', () => {
    const review = { phase: 'code_review', phaseAfter: 'implement', verdict: verdict(true, 0.9) } as const
    expect(settleAll([{}, {}, review, {}])).toMatchObject({ fail_streak: 1, score_history: [0.4] })
  })

  test('a tick without a verdict counts, and leaves scores, streak, hint and last verdict alone', () => {
    const before = settleAll([{}, {}])
    const after = settle(before, makeTick({ verdict: null }))
    expect(after).toMatchObject({
      iteration_count: 3,
      score_history: before.score_history,
      fail_streak: 2,
      next_hint: before.next_hint,
      last_verdict: before.last_verdict,
    })
  })

  test('a released task is gone, and remembered', () => {
    const state = settleAll([{ phase: 'referee', phaseAfter: 'complete', releasedTask: true }])
    expect(state).toMatchObject({
      current_task: null,
      current_phase: null,
      claimed_at: null,
      phase_sha: null,
      last_task: 'fix-login',
    })
  })

  test('a task that moved on has its new phase, entered at the commit that was checked', () => {
    const state = settleAll(
      [{ phaseAfter: 'code_review', verifiedSha: 'v2' }],
      busyState({ phase_sha: 'p1' }),
    )
    expect(state).toMatchObject({ current_phase: 'code_review', phase_sha: 'v2', claimed_at: at })
    expect(settleAll([{ phaseAfter: 'code_review', verifiedSha: 'v2', phaseSha: 'p2' }]).phase_sha).toBe('p2')
  })

  test('one session that reported no money makes the cost unknown until an approval', () => {
    const unknown = { cost: { usd: 0, tokens: 0, reported: false } }
    const state = settleAll([unknown, {}])
    expect(state.cost).toEqual({ usd: 0.5, tokens: 1000, reported: false })
    expect(approveLoop(halted('budget_exhausted', '', state), later).cost.reported).toBe(true)
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -5])(
    'a reported cost of %p never gives anything back',
    (n) => {
      const state = settleAll([{ cost: { usd: n, tokens: n, reported: true }, wallSeconds: n }])
      expect(state).toMatchObject({ cost: { usd: 0, tokens: 0 }, wall_seconds: 0 })
    },
  )

  test('a hint is capped at 4,000 characters', () => {
    const state = settleAll([{ verdict: { ...verdict(false, 0), next_hint: 'x'.repeat(9000) } }])
    expect(state.next_hint).toHaveLength(4000)
  })

  test('the state that went in is not touched', () => {
    const state = busyState({ score_history: [0.1] })
    const copy = structuredClone(state)
    settle(state, makeTick())
    expect(state).toEqual(copy)
  })
})

describe('ticks that are no iteration', () => {
  const spent = { usd: 0.2, tokens: 50, reported: true }

  test('a failed harness is charged and counted as an error only', () => {
    const state = busyState({ iteration_count: 4, score_history: [0.1], incomplete_ticks: 1 })
    expect(failTick(state, { ...spent, at: later, startedAt: at, seconds: 30 })).toEqual({
      ...state,
      wall_seconds: 30,
      cost: { usd: 0.2, tokens: 50, reported: true },
      consecutive_errors: 1,
      incomplete_ticks: 0,
      last_tick_at: at,
      updated_at: later,
    })
  })

  test('a tick that died is charged and counted, unless a person ended it', () => {
    const state = busyState({ iteration_count: 4 })
    const dead = { ...spent, at: later, seconds: 7 }
    expect(abandonTick(state, { ...dead, counted: true })).toMatchObject({
      iteration_count: 4,
      wall_seconds: state.wall_seconds + 7,
      incomplete_ticks: 1,
      cost: { usd: 0.2, tokens: 50 },
    })
    expect(abandonTick(state, { ...dead, counted: false }).incomplete_ticks).toBe(0)
  })
})

describe('the seeds', () => {
  const brakes = makeBrakes()

  test('a pass with a transition leaves the loop running', () => {
    const state = settleAll([{ phaseAfter: 'code_review', verdict: verdict(true, 0.9) }])
    expect(state).toMatchObject({ status: 'running', current_phase: 'code_review', iteration_count: 1 })
    expect(firstBrake(state, brakes)).toBeNull()
  })

  test('three passes at score 1.0 do not halt', () => {
    const state = settleAll(Array(3).fill({ verdict: verdict(true, 1) }))
    expect(state.score_history).toEqual([1, 1, 1])
    expect(firstBrake(state, brakes)).toBeNull()
  })

  test('three flat failures halt with verifier_failed', () => {
    const ticks = Array(3).fill({ verdict: verdict(false, 0.4) })
    expect(firstBrake(settleAll(ticks.slice(1)), brakes)).toBeNull()
    expect(firstBrake(settleAll(ticks), brakes)?.reason).toBe('verifier_failed')
  })

  test('max_iterations 1 halts on tick 1', () => {
    expect(firstBrake(settleAll([{}]), makeBrakes({ max_iterations: 1 }))?.reason).toBe(
      'iterations_exhausted',
    )
  })

  test('approve counts a resumption, not an iteration', () => {
    const stopped = halted('iterations_exhausted', '', settleAll([{}, {}]))
    expect(approveLoop(stopped, later)).toMatchObject({ resumed_count: 1, iteration_count: 2 })
  })
})
