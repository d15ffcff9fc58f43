import { expect, test } from 'bun:test'
import { type Turn, turnAt, turns } from '../../src/machine/turns.ts'

const now = new Date('2026-06-22T10:00:00.000Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()

/** A loop that ticks every hour and last did two hours ago. */
function turn(loop: string, change: Partial<Turn> = {}): Turn {
  return {
    loop,
    intervalSeconds: 3600,
    lastTickAt: ago(7200),
    notBefore: null,
    sinceStart: Number.POSITIVE_INFINITY,
    inCheckout: false,
    ...change,
  }
}

const started = (waiting: Turn[], parallel = 9, ticking: Pick<Turn, 'inCheckout'>[] = []) =>
  turns({ waiting, ticking, parallel, now }).start.map(({ loop }) => loop)

test('the loop that waited longest comes first, and there are never more than there is room for', () => {
  const waiting = [
    turn('b', { sinceStart: 100 }),
    turn('a', { sinceStart: 200 }),
    turn('d'),
    turn('c', { lastTickAt: ago(9000) }),
    turn('e', { lastTickAt: null }),
  ]
  expect(started(waiting)).toEqual(['e', 'c', 'd', 'a', 'b'])
  expect(started(waiting, 2)).toEqual(['e', 'c'])
  expect(started(waiting, 2, [turn('x')])).toEqual(['e'])
  expect(started(waiting, 1, [turn('x')])).toEqual([])
})

test('however long the machine slept, a loop is started once', () => {
  const slept = turn('a', { intervalSeconds: 60, lastTickAt: ago(8 * 3600), sinceStart: 8 * 3600 })
  expect(started([slept])).toEqual(['a'])
  expect(started([{ ...slept, lastTickAt: ago(1), sinceStart: 1 }])).toEqual([])
})

test('of the loops that work in the person’s checkout one ticks at a time', () => {
  const waiting = [turn('a', { inCheckout: true }), turn('b', { inCheckout: true }), turn('c')]
  expect(started(waiting)).toEqual(['a', 'c'])
  expect(started(waiting, 9, [{ inCheckout: true }])).toEqual(['c'])
})

test('a loop that is not due, or waits for its agent’s limit, is left alone until then', () => {
  const waiting = [
    turn('a', { lastTickAt: ago(3600 - 40) }),
    turn('b', { notBefore: new Date(now.getTime() + 3000).toISOString() }),
  ]
  expect(turns({ waiting, ticking: [], parallel: 1, now })).toEqual({ start: [], waitMs: 3000 })
  expect(waiting.map((one) => turnAt(one, now).toISOString())).toEqual([
    '2026-06-22T10:00:40.000Z',
    '2026-06-22T10:00:03.000Z',
  ])
})

test('a tick that left no trace is not repeated at once: after half the interval, or 30 seconds', () => {
  for (const [intervalSeconds, pause] of [
    [3600, 30],
    [20, 10],
  ] as const) {
    const refused = turn('a', { intervalSeconds })
    expect(started([{ ...refused, sinceStart: pause - 1 }])).toEqual([])
    expect(started([{ ...refused, sinceStart: pause }])).toEqual(['a'])
  }
})

test('it looks again in time for edits, and never spins', () => {
  const wait = (waiting: Turn[]) => turns({ waiting, ticking: [], parallel: 1, now }).waitMs
  expect(wait([])).toBe(10_000)
  expect(wait([turn('a', { lastTickAt: ago(0) })])).toBe(10_000)
  expect(wait([turn('a', { intervalSeconds: 0.01, lastTickAt: ago(0), sinceStart: 0 })])).toBe(50)
})
