import { expect, test } from 'bun:test'
import { clip, field, pad, table, widthOf, wrap } from '../../src/cli/layout.ts'

test('wrapping breaks at spaces and, where it must, inside of words', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij'])
  expect(wrap('first\nsecond', 20)).toEqual(['first', 'second'])
  expect(wrap('', 10)).toEqual([''])
})

test('wide characters and joined emoji count as what they take on the screen', () => {
  for (const line of wrap('漢字漢字漢字 👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 5))
    expect(widthOf(line)).toBeLessThanOrEqual(5)
  expect(clip('漢字漢字', 5)).toBe('漢字…')
  expect(pad('漢', 4)).toBe('漢  ')
})

test('a table is never wider than the page, whatever is in it', () => {
  const rows = [['a-very-long-name-of-a-loop-that-goes-on', 'running', '1'.repeat(80)]]
  for (const width of [60, 80, 120]) {
    for (const line of table(['LOOP', 'STATUS', 'NOTE'], rows, width))
      expect(widthOf(line)).toBeLessThanOrEqual(width)
  }
})

test('a field is wrapped beside its label, and an empty one is left out', () => {
  expect(field('why', null, 40)).toEqual([])
  const lines = field('why', 'one two three four five six seven eight', 30)
  expect(lines[0]).toStartWith('  why         one')
  expect(lines[1]).toStartWith('              ')
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(30)
})
