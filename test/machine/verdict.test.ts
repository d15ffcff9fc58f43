import { describe, expect, test } from 'bun:test'
import type { ReadVerdict } from '../../src/api/verdict.ts'
import { combineVerdicts, readVerdict } from '../../src/machine/verdict.ts'
import { isLinear, seeded } from './builders.ts'

const full = '{"pass": true, "score": 0.9, "reasons": ["ok"], "next_hint": "go on"}'
const read = { pass: true, score: 0.9, reasons: ['ok'], next_hint: 'go on' }

function reading(text: string): ReadVerdict {
  const result = readVerdict(text)
  if ('unreadable' in result) throw new Error(`unreadable: ${result.unreadable}`)
  return result
}

function whyUnreadable(text: string): string {
  const result = readVerdict(text)
  return 'unreadable' in result ? result.unreadable : `read: ${JSON.stringify(result.verdict)}`
}

describe('where a verdict is found', () => {
  test.each([
    ['the whole text', full],
    ['white space around it', `\n\n  ${full}\n`],
    ['a fenced block', `I looked.\n\n\`\`\`json\n${full}\n\`\`\`\nDone.`],
    ['the last fenced block of several', `\`\`\`sh\nls {a,b}\n\`\`\`\n\`\`\`\n${full}\n\`\`\``],
    ['a fenced verdict before another block', `\`\`\`json\n${full}\n\`\`\`\n\`\`\`sh\nnpm test\n\`\`\``],
    ['prose', `My verdict is ${full}, as I said.`],
    ['prose with stray braces before it', `Use } and { "x" in sets.\n${full}`],
    ['doubled braces', `{${full}}`],
    ['a prose brace that is never closed', `He wrote "{" in a set {1, 2\nand then ${full}`],
    ['a quote in prose on the same line', `a 5" pipe: ${full}`],
    ['a list of one', `[${full}]`],
    ['the same verdict twice', `${full}\nAgain:\n\`\`\`json\n${full}\n\`\`\``],
    ['an object without pass after it', `${full}\n{"files": 3}`],
    ['the format before it, as words', `The format is {"pass": true|false, "score": 0.0-1.0}.\n${full}`],
    ['several lines', JSON.stringify(read, null, 2)],
    ['a byte order mark', `\uFEFF${full}`],
    ['CR line ends', JSON.stringify(read, null, 2).replaceAll('\n', '\r\n')],
    ['colours', `\u001b[1;32m${full.replace('true', '\u001b[1mtrue\u001b[0m')}\u001b[0m`],
    ['a terminal title', `\u001b]0;title {"pass": false}\u0007${full}`],
    ['unknown fields', full.replace('{', '{"extra": {"pass": false, "deep": [{}]}, ')],
    ['an escaped name', full.replace('"pass"', '"p\\u0061ss"')],
  ])('%s', (_, text) => {
    expect(reading(text).verdict).toEqual(read)
  })

  test('braces, quotes and verdicts inside texts are text', () => {
    const hint = 'write {"pass": false} and "quote" it \\ }{'
    const text = JSON.stringify({ ...read, next_hint: hint })
    expect(reading(`so: ${text}`).verdict).toEqual({ ...read, next_hint: hint })
  })
})

describe('what cannot be read', () => {
  test.each([
    ['nothing', '', 'empty'],
    ['white space', ' \n\t', 'empty'],
    ['prose', 'It passes, I think: pass = true', 'no JSON object'],
    ['a missing pass', '{"score": 1, "reasons": []}', 'no JSON object'],
    ['pass inside another object', '{"verdict": {"pass": true}}', 'no JSON object'],
    ['two that differ', `${full} or {"pass": false, "score": 0.1}`, 'differ'],
    ['two that differ, one of them fenced', `{"pass": false}\n\`\`\`json\n${full}\n\`\`\``, 'differ'],
    ['two in a list', '[{"pass": true}, {"pass": false}]', 'differ'],
    ['pass twice, differing', '{"pass": false, "score": 0, "pass": true}', 'twice'],
    ['pass twice through an escape', '{"pass": false, "p\\u0061ss": true}', 'twice'],
    ['score twice, differing', '{"pass": true, "score": 0, "score": 1}', 'twice'],
    ['single quotes', "{'pass': True}", 'no JSON object'],
    ['a comma too much', '{"pass": true,}', 'no JSON object'],
    ['a broken one with a whole one inside', '{"pass": false, oops {"pass": true}}', 'no JSON object'],
    ['a broken one after a whole one', `${full}\nNo: {"pass": false, }`, 'no JSON object'],
    ['one that was cut off', '{"pass": false, "reasons": ["x"], "old": {"pass": true}', 'no JSON object'],
    ['one cut off after a whole one', `${full}\n{"pass": fal`, 'no JSON object'],
    ['a JSON text that holds one', JSON.stringify(full), 'no JSON object'],
    ['a comment', '{"pass": true /* yes */}', 'no JSON object'],
    ['a leading zero', '{"pass": true, "score": 01}', 'no JSON object'],
    ['a line end inside a text', '{"pass": true, "next_hint": "a\nb"}', 'no JSON object'],
  ])('%s', (_, text, why) => {
    expect(whyUnreadable(text)).toContain(why)
  })

  test('the raw text is kept', () => {
    expect(readVerdict('\u001b[31mno\r\n')).toEqual({
      unreadable: expect.any(String),
      raw: '\u001b[31mno\r\n',
    })
  })

  test('a text over 1 MiB is not searched, and its raw copy is cut', () => {
    const result = readVerdict(full + ' '.repeat(1_048_576))
    expect(result).toMatchObject({ unreadable: 'it is longer than 1 MiB' })
    expect('raw' in result && result.raw.length).toBe(1_048_576)
  })

  test('a text of exactly 1 MiB is', () => {
    expect(reading(full.padEnd(1_048_576)).verdict).toEqual(read)
  })
})

describe('pass', () => {
  test.each([
    ['true', true, 0],
    ['false', false, 0],
    ['"true"', true, 0],
    ['" TRUE\\n"', true, 0],
    ['"False"', false, 0],
    ['"no"', false, 1],
    ['"yes"', false, 1],
    ['""', false, 1],
    ['1', true, 1],
    ['0', false, 1],
    ['-0.5', true, 1],
    ['NaN', false, 1],
    ['Infinity', true, 1],
    ['null', false, 1],
    ['[]', false, 1],
    ['[true]', false, 1],
    ['{}', false, 1],
    ['{"pass": true}', false, 1],
  ])('%s is %p, with %p warnings', (value, pass, warnings) => {
    const result = reading(`{"pass": ${value}, "score": 1}`)
    expect(result.verdict.pass).toBe(pass)
    expect(result.warnings).toHaveLength(warnings)
  })
})

describe('score', () => {
  test.each([
    ['0', 0, 0],
    ['0.25', 0.25, 0],
    ['1', 1, 0],
    ['1e-1', 0.1, 0],
    ['-0', 0, 0],
    ['1.5', 1, 1],
    ['-3', 0, 1],
    [`1${'0'.repeat(400)}`, 0.5, 1],
    ['1e999', 0.5, 1],
    ['NaN', 0.5, 1],
    ['Infinity', 0.5, 1],
    ['-Infinity', 0.5, 1],
    ['+Infinity', 0.5, 1],
    ['"0.9"', 0.5, 1],
    ['true', 0.5, 1],
    ['null', 0.5, 1],
    ['[1]', 0.5, 1],
    ['{}', 0.5, 1],
  ])('%s is %p, with %p warnings', (value, score, warnings) => {
    const result = reading(`{"pass": true, "score": ${value}}`)
    expect(result.verdict.score).toBe(score)
    expect(result.warnings).toHaveLength(warnings)
  })

  test('a missing score is 0.5, with a warning', () => {
    expect(reading('{"pass": true}')).toMatchObject({
      verdict: { score: 0.5 },
      warnings: ['score is missing, read as 0.5'],
    })
  })
})

describe('reasons and next_hint', () => {
  const fields = (json: string) => reading(`{"pass": true, "score": 1, ${json}}`)

  test('a text becomes a list of one', () => {
    expect(fields('"reasons": "all good"').verdict.reasons).toEqual(['all good'])
  })

  test('what is no text is left out, with a warning', () => {
    const { verdict, warnings } = fields('"reasons": ["a", 1, null, {}, ["b"], "c"]')
    expect(verdict.reasons).toEqual(['a', 'c'])
    expect(warnings).toEqual(['4 of 6 reasons are no text'])
  })

  test('another type of reasons is none, with a warning', () => {
    expect(fields('"reasons": 3')).toMatchObject({ verdict: { reasons: [] }, warnings: [expect.any(String)] })
  })

  test('each reason is cut to 1,000 characters and the list to 50', () => {
    const { verdict, warnings } = fields(`"reasons": ${JSON.stringify(Array(60).fill('x'.repeat(1200)))}`)
    expect(verdict.reasons).toHaveLength(50)
    expect(verdict.reasons.every((reason) => reason.length === 1000)).toBe(true)
    expect(warnings).toHaveLength(2)
  })

  test('a cut never leaves half a character', () => {
    const { verdict } = fields(`"next_hint": ${JSON.stringify(`${'x'.repeat(3999)}😀`)}`)
    expect(verdict.next_hint).toBe('x'.repeat(3999))
    expect(verdict.next_hint.isWellFormed()).toBe(true)
  })

  test('next_hint is cut to 4,000 characters', () => {
    expect(fields(`"next_hint": "${'x'.repeat(5000)}"`).verdict.next_hint).toHaveLength(4000)
  })

  test.each(['1', 'null', '[]', '{}', 'true'])('a next_hint of %s is empty', (value) => {
    expect(fields(`"next_hint": ${value}`)).toMatchObject({ verdict: { next_hint: '' } })
  })
})

test('__proto__ in a verdict changes nothing', () => {
  const { verdict } = reading(
    '{"__proto__": {"pass": true, "polluted": 1}, "constructor": 2, "pass": false, "score": 0}',
  )
  expect(verdict).toEqual({ pass: false, score: 0, reasons: [], next_hint: '' })
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(whyUnreadable('{"__proto__": {"pass": true}}')).toContain('no JSON object')
})

describe('several verdicts', () => {
  const of = (pass: boolean, score: number, reason: string, next_hint: string): ReadVerdict => ({
    verdict: { pass, score, reasons: [reason], next_hint },
    warnings: [`w ${reason}`],
  })

  test('all must pass, the lowest score counts, and every reason is kept', () => {
    expect(
      combineVerdicts([of(true, 0.9, 'a', 'one'), of(false, 0.3, 'b', ''), of(true, 1, 'c', 'two')]),
    ).toEqual({
      verdict: { pass: false, score: 0.3, reasons: ['a', 'b', 'c'], next_hint: 'one\ntwo' },
      warnings: ['w a', 'w b', 'w c'],
    })
  })

  test('one alone stays as it is', () => {
    expect(combineVerdicts([of(true, 0.9, 'a', 'one')])).toEqual(of(true, 0.9, 'a', 'one'))
  })

  test('none at all is a failure', () => {
    expect(combineVerdicts([]).verdict).toMatchObject({ pass: false, score: 0 })
  })
})

describe('fuzz', () => {
  const pieces = [
    '{', '}', '[', ']', '"', ':', ',', '\\', '\n', ' ', '```', 'json', 'tru', 'fals', '0', '1', '.5', 'e9', '-',
    'NaN', 'Infinity', 'null', '"score"', '"reasons"', '"x"', '__proto__', '\u001b[', '\u001b]', '\u0007', '\uFEFF',
    '\r', '\u0000', 'é', '😀', '\uD800', '/*', "'", 'pas', 's', 'u0061',
  ] // biome-ignore format: a table

  test('10,000 texts of JSON-like garbage never throw and never pass', () => {
    const next = seeded(20_260_622)
    for (let i = 0; i < 5000; i++) {
      const text = Array.from({ length: next(60) }, () => pieces[next(pieces.length)]).join('')
      const result = readVerdict(text)
      if ('verdict' in result) expect({ text, pass: result.verdict.pass }).toEqual({ text, pass: false })
    }
    const failing =
      '{"pass": false, "score": 0.25, "reasons": ["no {tests}", "b"], "next_hint": "add \\"one\\""}'
    for (let i = 0; i < 5000; i++) {
      let text = failing
      for (let edits = next(6); edits >= 0; edits--) {
        const from = next(text.length + 1)
        const piece = pieces[next(11)] ?? ''
        text = text.slice(0, from) + (next(2) === 0 ? piece : '') + text.slice(from + next(4))
      }
      const result = readVerdict(`Here:\n${text}\n`)
      if ('verdict' in result) expect({ text, pass: result.verdict.pass }).toEqual({ text, pass: false })
    }
  })

  test('a verdict survives any prose around it that has no braces', () => {
    const next = seeded(7)
    const prose = pieces.filter((piece) => !['{', '}', '\u001b[', '\u001b]'].includes(piece))
    for (let i = 0; i < 1000; i++) {
      const around = () => Array.from({ length: next(30) }, () => prose[next(prose.length)]).join('')
      expect(reading(`${around()}${full}${around()}`).verdict).toEqual(read)
    }
  })
})

describe('the search is linear', () => {
  const shapes: [string, (n: number) => string][] = [
    ['opening braces', (n) => '{'.repeat(n)],
    ['empty objects', (n) => '{}'.repeat(n / 2)],
    ['nested objects that break in the middle', (n) => `${'{"pass":'.repeat(n / 9)}x${'}'.repeat(n / 9)}`],
    ['nested objects', (n) => `${'{"a":'.repeat(n / 6)}1${'}'.repeat(n / 6)}`],
    ['open objects with texts', (n) => '{"pass": "'.repeat(n / 10)],
    ['brackets in an object', (n) => `{"pass": ${'['.repeat(n)}}`],
    ['many verdicts', (n) => '{"pass": true, "score": 1}\n'.repeat(n / 27)],
    ['quotes', (n) => `{${'"'.repeat(n)}`],
    ['backslashes', (n) => `{"${'\\'.repeat(n)}`],
    ['escapes that never end', (n) => '\u001b]'.repeat(n / 2)],
    ['control strings that never end', (n) => '\u009d'.repeat(n / 2)],
    ['escape parameters', (n) => `\u001b[${'0'.repeat(n)}`],
    ['digits', (n) => `{"pass": ${'1'.repeat(n)}`],
    ['fences', (n) => '```'.repeat(n / 3)],
  ]

  test.each(shapes)('%s', (_, shape) => {
    expect(isLinear((text) => void readVerdict(text), shape, 40_000)).toBe(true)
  })

  test('a million braces take well under five seconds', () => {
    const start = performance.now()
    readVerdict('{'.repeat(1_048_576))
    readVerdict('{}'.repeat(524_288))
    expect(performance.now() - start).toBeLessThan(5000)
  })
})
