import { expect, test } from 'bun:test'
import { readNumber } from '../../plugins/verifiers/metric-number.ts'

test.each([
  ['42', 42],
  ['coverage: 81.5%\n', 81.5],
  ['first 1\nthen 2\nlast 3 of them', 3],
  ['-7.25', -7.25],
  ['1e-3', 0.001],
  ['took .5', 0.5],
  ['\u001b[32m97\u001b[0m', 97],
])('%j: the last number is %p', (text, expected) => {
  expect(readNumber(text)).toBe(expected)
})

test('a pattern says which number: its first group, or all of it, and the last match', () => {
  const text = 'lines 10 of 12 (83.3%)\nbranches 3 of 4 (75%)\nin 7 s'
  expect(readNumber(text, '\\((\\d+(?:\\.\\d+)?)%\\)')).toBe(75)
  expect(readNumber(text, '^lines (\\d+)')).toBe(10)
  expect(readNumber('score=1,234 points', '[\\d,]+')).toBe(1234)
})

test('no number, or a match that is none, is null', () => {
  expect(readNumber('')).toBeNull()
  expect(readNumber('none at all')).toBeNull()
  expect(readNumber('5', 'x(\\d)')).toBeNull()
  expect(readNumber('abc', 'abc')).toBeNull()
  expect(readNumber('x', 'x()')).toBeNull()
})
