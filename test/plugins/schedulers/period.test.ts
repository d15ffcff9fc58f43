import { expect, test } from 'bun:test'
import { minutesOfHour, stepMinutes } from '../../../plugins/schedulers/period.ts'

test('a unit starts at even steps of at most an hour, of which the interval is a multiple', () => {
  const table = [
    [60, 1],
    [300, 5],
    [420, 1],
    [900, 15],
    [2100, 5],
    [2700, 15],
    [3600, 60],
    [5400, 30],
    [7200, 60],
    [86_400, 60],
    [90_000, 60],
    [31 * 86_400 + 60, 1],
  ] as const
  expect(table.map(([seconds]) => [seconds, stepMinutes(seconds)])).toEqual(table.map((row) => [...row]))
})

test('no unit keeps an interval that is not whole minutes', () => {
  for (const seconds of [0, -60, 1, 59, 61, 90, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => stepMinutes(seconds)).toThrow('is not whole minutes: automaton daemon keeps it')
  }
})

test('the minutes of a step fill the hour evenly', () => {
  expect(minutesOfHour(20)).toEqual([0, 20, 40])
  expect(minutesOfHour(60)).toEqual([0])
  expect(minutesOfHour(1)).toHaveLength(60)
})
