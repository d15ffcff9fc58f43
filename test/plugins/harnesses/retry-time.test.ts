import { describe, expect, test } from 'bun:test'
import { retryTime } from '../../../plugins/harnesses/retry-time.ts'

const at = '2026-01-05T12:00:30.000Z'

describe('retryTime', () => {
  const times: [message: string, until: string | null][] = [
    ['Rate limit reached. Please try again in 20s.', '2026-01-05T12:00:50.000Z'],
    ['Please retry in 1.5s', '2026-01-05T12:00:31.500Z'],
    ['Your quota will reset after 2h3m4s.', '2026-01-05T14:03:34.000Z'],
    ['try again in 3 days 4 hours 5 minutes', '2026-01-08T16:05:30.000Z'],
    ['try again in 1 hour and 30 minutes, please', '2026-01-05T13:30:30.000Z'],
    ['Claude AI usage limit reached|1767625440', '2026-01-05T15:04:00.000Z'],
    ["You've hit your limit · resets 3pm (UTC)", '2026-01-05T15:00:00.000Z'],
    ["You've hit your limit · resets 11:30am (UTC)", '2026-01-06T11:30:00.000Z'],
    ["You've hit your limit · resets 3pm (America/New_York)", '2026-01-05T20:00:00.000Z'],
    ["You've hit your limit · resets Jan 7, 1pm (Europe/Berlin)", '2026-01-07T12:00:00.000Z'],
    ['try again at Jan 6th, 2026 3:04 PM (UTC)', '2026-01-06T15:04:00.000Z'],
    ['try again at 12:00 AM (UTC)', '2026-01-06T00:00:00.000Z'],
    // What names no moment to wait for.
    ['try again later', null],
    ['resets 3pm (Atlantis/Capital)', null],
    ['try again at Foo 7, 2026 3:04 PM', null],
    ['try again in 0s', null],
    ['try again in 90 days', null],
    ['limit reached|1700000000', null],
    ['retried 5 times (total retry wait time: 37.27 seconds)', null],
    ['', null],
  ]
  test.each(times)('%p', (message, until) => expect(retryTime(message, at)).toBe(until))

  test('a year that is not named is the next one where the day has passed', () => {
    expect(retryTime('resets Jan 2, 1pm (UTC)', '2026-12-30T12:00:00.000Z')).toBe('2027-01-02T13:00:00.000Z')
  })

  test('takes a time that is none for no time', () => {
    expect(retryTime('try again in 20s', 'yesterday')).toBeNull()
  })

  test('a long message takes no long time', () => {
    const started = performance.now()
    retryTime(`try again in ${'1 2h'.repeat(500_000)}`, at)
    retryTime(`resets ${'Jan 1 '.repeat(500_000)}`, at)
    expect(performance.now() - started).toBeLessThan(200)
  })
})
