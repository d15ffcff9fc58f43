import { expect, test } from 'bun:test'
import { readNumber } from '../../plugins/verifiers/metric-number.ts'

test.each([
  ['42', 42],
  ['coverage: 81.5%\n', 81.5],
  ['first 1\nthen 2\nlast 3 of them', 3],
  ['-7.25', -7.25],
  ['1e-3', 0.001],
  ['took .5', 0.5],
  ['1,234.5 in all', 1234.5],
  ['1,234,567', 1234567],
  ['a 1, b 2', 2],
  ['5, 7', 7],
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

test('a comma that may be a point is null, not a number a hundred times too large', () => {
  for (const text of ['0,85', 'coverage: 98,6%', '1,2,3', '12,3456', '1234,567', '1,23,456'])
    expect(readNumber(text)).toBeNull()
  expect(readNumber('score=0,85', '[\\d,]+')).toBeNull()
  expect(readNumber('score=3,4', ',(\\d)')).toBe(4)
})
