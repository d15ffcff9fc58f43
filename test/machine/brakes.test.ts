import { describe, expect, test } from 'bun:test'
import {
  budget,
  firstBrake,
  iterations,
  plateau,
  remainingBudget,
  remainingIterations,
} from '../../src/machine/brakes.ts'
import { makeBrakes, makeState } from './builders.ts'

describe('iterations', () => {
  const brakes = makeBrakes({ max_iterations: 3 })

  test('the loop halts when the cap is reached, not before', () => {
    expect(iterations(makeState({ iteration_count: 2 }), brakes)).toBeNull()
    expect(iterations(makeState({ iteration_count: 3 }), brakes)).toEqual({
      reason: 'iterations_exhausted',
      detail: '3 of 3 iterations used',
    })
    expect(iterations(makeState({ iteration_count: 9 }), brakes)?.reason).toBe('iterations_exhausted')
  })

  test('only those since the last approval count', () => {
    const state = makeState({ iteration_count: 10, iteration_base: 8 })
    expect(iterations(state, brakes)).toBeNull()
    expect(remainingIterations(state, brakes)).toBe(1)
  })

  test('what remains is never negative', () => {
    expect(remainingIterations(makeState({ iteration_count: 9 }), brakes)).toBe(0)
  })
})

describe('budget', () => {
  const spent = makeState({
    cost: { usd: 5, tokens: 500, reported: true },
    cost_base: { usd: 3, tokens: 400 },
    wall_seconds: 100,
    wall_base: 40,
  })

  test('without caps nothing halts, reported or not', () => {
    expect(budget({ ...spent, cost: { ...spent.cost, reported: false } }, makeBrakes())).toBeNull()
  })

  test.each([
    [{ max_budget_usd: 2 }, '2.00 of 2 USD used'],
    [{ max_tokens: 100 }, '100 of 100 tokens used'],
    [{ max_wall_seconds: 60 }, '60 of 60 seconds used'],
  ])('%o is reached by what was spent since the last approval', (cap, detail) => {
    expect(budget(spent, makeBrakes(cap))).toEqual({ reason: 'budget_exhausted', detail })
  })

  test.each([{ max_budget_usd: 2.01 }, { max_tokens: 101 }, { max_wall_seconds: 61 }])(
    '%o is not reached',
    (cap) => {
      expect(budget(spent, makeBrakes(cap))).toBeNull()
    },
  )

  test('an unknown cost halts under a money cap, unless it is to be ignored', () => {
    const unknown = makeState({ cost: { usd: 0, tokens: 0, reported: false } })
    const brakes = makeBrakes({ max_budget_usd: 10 })
    expect(budget(unknown, brakes)).toEqual({ reason: 'budget_exhausted', detail: 'budget_unknown' })
    expect(budget(unknown, { ...brakes, unknown_cost: 'ignore' })).toBeNull()
    expect(budget(unknown, makeBrakes({ max_tokens: 10 }))).toBeNull()
  })

  test('what remains is null without a cap, and never negative', () => {
    expect(remainingBudget(spent, makeBrakes())).toBeNull()
    expect(remainingBudget(spent, makeBrakes({ max_budget_usd: 2.5 }))).toBe(0.5)
    expect(remainingBudget(spent, makeBrakes({ max_budget_usd: 1 }))).toBe(0)
  })
})

describe('plateau', () => {
  const trips = (score_history: number[], fail_streak = score_history.length, changes = {}) =>
    plateau(makeState({ score_history, fail_streak }), makeBrakes(changes)) !== null

  test.each([
    [[0.4, 0.4, 0.4], true],
    [[0.6, 0.5, 0.4], true],
    [[0.4, 0.41, 0.41], true],
    [[0.6, 0.61, 0.62], true],
    [[0.4, 0.42, 0.42], false],
    [[0.4, 0.3, 0.5], false],
    [[0.4, 0.5, 0.3], false],
    [[0, 0, 0], true],
    [[0.4, 0.4], false],
  ])('%j trips: %p', (scores, tripped) => {
    expect(trips(scores)).toBe(tripped)
  })

  test('only the last window counts', () => {
    expect(trips([0.1, 0.4, 0.4, 0.4])).toBe(true)
    expect(trips([0.4, 0.4, 0.4, 0.9])).toBe(false)
  })

  test('it needs as many failures in a row', () => {
    expect(trips([0.4, 0.4, 0.4], 2)).toBe(false)
    expect(trips([1, 1, 1], 0)).toBe(false)
  })

  test('a window under 2 turns it off', () => {
    for (const score_plateau_window of [0, 1, -1]) {
      expect(trips([0.4, 0.4, 0.4], 3, { score_plateau_window })).toBe(false)
    }
  })

  test('the halt names the scores', () => {
    expect(plateau(makeState({ score_history: [0.4, 0.4, 0.3], fail_streak: 5 }), makeBrakes())).toEqual({
      reason: 'verifier_failed',
      detail: 'no progress in 3 ticks: scores 0.4, 0.4, 0.3',
    })
  })
})

test('of several brakes the first in order is named', () => {
  const state = makeState({
    iteration_count: 5,
    cost: { usd: 5, tokens: 0, reported: true },
    score_history: [0, 0, 0],
    fail_streak: 3,
  })
  const brakes = makeBrakes({ max_iterations: 5, max_budget_usd: 5 })
  expect(firstBrake(state, brakes)?.reason).toBe('iterations_exhausted')
  expect(firstBrake(state, { ...brakes, max_iterations: 6 })?.reason).toBe('budget_exhausted')
  expect(firstBrake(state, makeBrakes({ max_iterations: 6 }))?.reason).toBe('verifier_failed')
})
