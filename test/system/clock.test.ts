import { expect, test } from 'bun:test'
import { systemClock } from '../../src/system/clock.ts'

test('the machine’s clock tells the time in ISO-8601 UTC and never runs backwards', () => {
  const before = systemClock.seconds()
  const now = systemClock.now().getTime()
  expect(systemClock.iso()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(Math.abs(Date.parse(systemClock.iso()) - now)).toBeLessThan(60_000)
  expect(systemClock.seconds()).toBeGreaterThanOrEqual(before)
})
