import { expect, test } from 'bun:test'
import { cleanText } from '../../src/machine/text.ts'

test.each([
  ['plain text\nstays', 'plain text\nstays'],
  ['\uFEFFa\r\nb\rc', 'a\nbc'],
  ['\u001b[1;31mred\u001b[0m', 'red'],
  ['\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b', 'ab'],
  ['\u009b31mred', 'red'],
  ['\u001bP+q\u001b\\a', 'a'],
  ['\u001b(Ba\u001b7b', 'ab'],
  ['a\u001b', 'a'],
  ['\u001b]0;never ends', '0;never ends'],
])('%j becomes %j', (text, clean) => {
  expect(cleanText(text)).toBe(clean)
})
