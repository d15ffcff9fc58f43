import { describe, expect, test } from 'bun:test'
import { readJson } from '../../src/config/json.ts'

const good = [
  'null',
  'true',
  '-0.5e+3',
  '""',
  '"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"',
  '[]',
  ' [ 1 , 2,\r\n[ ] ] ',
  '{}',
  '{"a":{"b":[{"c":null}]},"":0}',
  '"ü 𝄞"',
]

test('what JSON.parse reads is read the same', () => {
  for (const text of good) expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
})

describe('refused', () => {
  const cases: [text: string, line: number, column: number, why: RegExp][] = [
    ['', 1, 1, /ends too early/],
    ['{"a":1,"a":2}', 1, 8, /"a" is there twice/],
    ['{"__proto__":{"x":1}}', 1, 2, /not allowed/],
    ['{"a":1,}', 1, 8, /comma stands before the closing brace/],
    ['[1,]', 1, 4, /comma stands before the closing bracket/],
    ['{"a" 1}', 1, 6, /colon/],
    ['{"a":1 "b":2}', 1, 8, /comma or a closing brace/],
    ['[1 2]', 1, 4, /comma or a closing bracket/],
    ['{a:1}', 1, 2, /double quotes/],
    ['// x\n{}', 1, 1, /no comments/],
    ['{}\n{}', 2, 1, /follows after the end/],
    ['"a\nb"', 1, 3, /not closed/],
    ['"\\x"', 1, 2, /escape/],
    ['{"a":NaN}', 1, 6, /a value is expected/],
    ['01', 1, 2, /follows/],
    [`${'['.repeat(200)}`, 1, 102, /levels deep/],
  ]
  for (const [text, line, column, why] of cases) {
    test(`${JSON.stringify(text.slice(0, 30))} at ${line}:${column}`, () => {
      const read = readJson(text)
      if (read.ok) throw new Error('it was read')
      expect(read.problem).toMatchObject({ line, column })
      expect(read.problem.why).toMatch(why)
    })
  }
})
