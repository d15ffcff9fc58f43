import { describe, expect, test } from 'bun:test'
import { decideClaim, type OtherClaim } from '../../src/machine/claim.ts'
import { at, later } from './builders.ts'

const other = (changes: Partial<OtherClaim> = {}): OtherClaim => ({
  loop: 'other',
  status: 'running',
  current_task: 'fix-login',
  claimed_at: at,
  ...changes,
})

function decide(
  others: OtherClaim[],
  changes: { loop?: string; claimedBy?: string; claimedAt?: string } = {},
) {
  const { loop = 'nightly', claimedBy = null, claimedAt = null } = changes
  return decideClaim({ loop, task: 'fix-login', others, claimedBy, claimedAt })
}

describe('claiming', () => {
  test('a free task is taken', () => {
    expect(decide([])).toEqual({ ok: true })
    expect(decide([other({ current_task: 'other-task' }), other({ current_task: null })])).toEqual({
      ok: true,
    })
  })

  test.each(['running', 'paused', 'halted'] as const)('a %s loop keeps its task', (status) => {
    expect(decide([other({ status })])).toEqual({ ok: false, owner: 'other', since: at })
  })

  test('a complete loop keeps nothing', () => {
    expect(decide([other({ status: 'complete' })])).toEqual({ ok: true })
  })

  test('owning it already is fine', () => {
    expect(decide([other({ loop: 'nightly' })], { claimedAt: at })).toEqual({ ok: true })
  })

  test('a task that a person took is never taken', () => {
    expect(decide([], { claimedBy: 'human:pat', claimedAt: at })).toEqual({
      ok: false,
      owner: 'human:pat',
      since: null,
    })
  })

  test('of several owners the first is named', () => {
    expect(decide([other({ loop: 'b', claimed_at: later }), other({ loop: 'c' })])).toMatchObject({
      owner: 'c',
    })
  })
})

describe('two loops that both wrote a claim', () => {
  test('the later one lets go, the earlier one keeps it', () => {
    expect(decide([other({ claimed_at: later })], { claimedAt: at })).toEqual({ ok: true })
    expect(decide([other({ claimed_at: at })], { claimedAt: later })).toMatchObject({
      ok: false,
      owner: 'other',
    })
  })

  test('times are compared as times, not as text', () => {
    const whole = '2026-06-22T10:00:00Z'
    const fraction = '2026-06-22T10:00:00.500Z'
    expect(decide([other({ claimed_at: fraction })], { claimedAt: whole })).toEqual({ ok: true })
  })

  test('at the same time the larger name lets go, and exactly one of the two keeps it', () => {
    expect(decide([other({ loop: 'zulu' })], { claimedAt: at })).toEqual({ ok: true })
    expect(decide([other({ loop: 'alpha' })], { claimedAt: at })).toMatchObject({ ok: false, owner: 'alpha' })
    expect(decide([other({ loop: 'nightly' })], { loop: 'other', claimedAt: at })).toMatchObject({
      ok: false,
    })
    expect(decide([other()], { claimedAt: at })).toEqual({ ok: true })
  })

  test('a claim without a readable time counts as the oldest', () => {
    expect(decide([other({ claimed_at: null })], { claimedAt: at })).toMatchObject({ ok: false })
    expect(decide([other({ claimed_at: 'soon' })], { claimedAt: at })).toMatchObject({ ok: false })
  })
})
