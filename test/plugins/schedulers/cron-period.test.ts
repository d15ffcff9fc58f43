import { describe, expect, test } from 'bun:test'
import { cronPeriod } from '../../../plugins/schedulers/cron-period.ts'

describe('the period of a crontab line', () => {
  test.each([
    [60, '* * * * *', true],
    [120, '*/2 * * * *', true],
    [300, '*/5 * * * *', true],
    [420, '* * * * *', false],
    [1800, '*/30 * * * *', true],
    [2100, '*/5 * * * *', false],
    [2700, '*/15 * * * *', false],
    [3600, '0 * * * *', true],
    [5400, '*/30 * * * *', false],
    [7200, '0 */2 * * *', true],
    [18_000, '0 * * * *', false],
    [36_000, '0 */2 * * *', false],
    [43_200, '0 */12 * * *', true],
    [86_400, '0 0 * * *', true],
    [90_000, '0 * * * *', false],
    [172_800, '0 0 * * *', false],
  ])('%p s: %s, exact %p', (seconds, expression, exact) => {
    expect(cronPeriod(seconds)).toEqual({ expression, exact })
  })

  test.each([59, 1, 0, -60, 61, 90, 3601, 60.5, Number.NaN, Number.POSITIVE_INFINITY])(
    '%p s are refused',
    (seconds) => {
      expect(cronPeriod(seconds)).toEqual({ refused: expect.any(String) })
    },
  )

  test('a shorter period always divides the interval, so that no tick comes late', () => {
    for (let minutes = 1; minutes <= 3000; minutes++) {
      const period = cronPeriod(minutes * 60)
      if ('refused' in period) throw new Error(period.refused)
      const [minute, hour] = period.expression.split(' ')
      const step = minute?.startsWith('*/') ? Number(minute.slice(2)) : minute === '*' ? 1 : 60
      const hours = hour?.startsWith('*/') ? Number(hour.slice(2)) : hour === '0' ? 24 : 1
      expect(minutes % (step * hours)).toBe(0)
      expect(period.exact).toBe(minutes === step * hours)
    }
  })
})
