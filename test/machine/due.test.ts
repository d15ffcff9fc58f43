import { describe, expect, test } from 'bun:test'
import { isDue, longestWaitMs, nextDue, waitUntil } from '../../src/machine/due.ts'

const now = new Date('2026-06-22T12:00:00.000Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()
const due = (lastTickAt: string | null, intervalSeconds = 3600) => isDue({ lastTickAt, intervalSeconds, now })

describe('a scheduled tick', () => {
  test('is due when the loop never ticked', () => {
    expect(due(null)).toBe(true)
  })

  test.each([
    [3600, 3600, true],
    [3570, 3600, true],
    [3569, 3600, false],
    [1, 3600, false],
    [0, 3600, false],
    [30, 60, true],
    [29, 60, false],
    [5, 10, true],
    [4, 10, false],
  ])('%p s after the last start with an interval of %p s: %p', (elapsed, interval, expected) => {
    expect(due(ago(elapsed), interval)).toBe(expected)
  })

  test('is not due again when the clock was corrected by some seconds', () => {
    expect(due(ago(-1))).toBe(false)
    expect(due(ago(-30))).toBe(false)
  })

  test('is due when the clock was set back, however far', () => {
    expect(due(ago(-31))).toBe(true)
    expect(due(ago(-365 * 86_400))).toBe(true)
  })

  test('is due when the last start cannot be read', () => {
    expect(due('yesterday')).toBe(true)
  })
})

describe('the next tick', () => {
  const next = (lastTickAt: string | null) =>
    nextDue({ lastTickAt, intervalSeconds: 3600, now }).toISOString()

  test('is a full interval after the last start', () => {
    expect(next(ago(600))).toBe('2026-06-22T12:50:00.000Z')
  })

  test('is never in the past, and is now where nothing is known', () => {
    expect(next(ago(86_400))).toBe(now.toISOString())
    expect(next(null)).toBe(now.toISOString())
    expect(next(ago(-600))).toBe(now.toISOString())
  })

  test('the loop is due when it comes', () => {
    const at = nextDue({ lastTickAt: ago(17), intervalSeconds: 61, now })
    expect(isDue({ lastTickAt: ago(17), intervalSeconds: 61, now: at })).toBe(true)
  })
})

describe('a limit of the agent', () => {
  const inMs = (ms: number) => new Date(now.getTime() + ms).toISOString()
  const when = (lastTickAt: string | null, notBefore: string | null) => ({
    lastTickAt,
    notBefore,
    intervalSeconds: 60,
    now,
  })

  test('keeps a loop that would be due from ticking until it ends', () => {
    expect(isDue(when(ago(3600), inMs(1)))).toBe(false)
    expect(isDue(when(null, inMs(600_000)))).toBe(false)
    expect(isDue(when(ago(3600), inMs(0)))).toBe(true)
    expect(isDue(when(ago(3600), inMs(-1)))).toBe(true)
    expect(isDue(when(ago(3600), null))).toBe(true)
  })

  test('the next tick is when both the limit and the interval are over', () => {
    expect(nextDue(when(ago(3600), inMs(600_000))).toISOString()).toBe(inMs(600_000))
    expect(nextDue(when(ago(0), inMs(5000))).toISOString()).toBe(inMs(60_000))
    expect(nextDue(when(null, inMs(5000))).toISOString()).toBe(inMs(5000))
  })

  test('is waited for a day at most', () => {
    expect(waitUntil(inMs(90_000), now)).toBe(inMs(90_000))
    expect(waitUntil('2999-01-01T00:00:00Z', now)).toBe(inMs(longestWaitMs))
  })

  test('one that has passed, or that is no time, is none: the error counts', () => {
    for (const retryAt of [undefined, '', 'soon', inMs(0), inMs(-60_000)]) {
      expect(waitUntil(retryAt, now)).toBeNull()
    }
  })

  test('one that is further off than any wait was written by a clock that was set back since', () => {
    expect(isDue(when(ago(3600), inMs(longestWaitMs)))).toBe(false)
    expect(isDue(when(ago(3600), inMs(longestWaitMs + 1)))).toBe(true)
  })
})
