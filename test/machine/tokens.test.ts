import { expect, test } from 'bun:test'
import { estimateTokens } from '../../src/machine/tokens.ts'

test.each([
  ['nothing', '', 0],
  ['four characters', 'abcd', 1],
  ['five characters', 'abcde', 2],
  ['Latin text with marks', 'é'.repeat(400), 100],
  ['Cyrillic text', 'ж'.repeat(400), 100],
  ['Chinese text', '漢'.repeat(150), 100],
  ['Japanese text', 'かな'.repeat(75), 100],
  ['Korean text', '한글'.repeat(75), 100],
  ['full-width forms', 'Ａ！'.repeat(75), 100],
  ['rare characters outside the first plane', '𠮷'.repeat(150), 100],
  ['both', `${'a'.repeat(400)}${'漢'.repeat(150)}`, 200],
])('%s', (_, text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens)
})
