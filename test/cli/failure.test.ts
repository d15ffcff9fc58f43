import { expect, test } from 'bun:test'
import { failureJson, failureOf, failureText } from '../../src/cli/failure.ts'
import { jsonLine } from '../../src/cli/json.ts'
import { safe, safeLines } from '../../src/cli/safe.ts'
import { errors } from '../../src/errors.ts'

test('an error of the catalogue is two lines: what, and one thing to do', () => {
  const text = failureText(failureOf(errors.noCommits('/repo'), 'automaton tick'), null)
  expect(text).toBe(
    'automaton: repository has no commit yet (/repo): there is nothing to branch from\n  fix: git add -A && git commit --allow-empty -m "first commit"\n',
  )
})

test('on a terminal it fits the width, with the command to type whole', () => {
  const command = `automaton plugins trust /home/me/${'deep/'.repeat(12)}one.ts`
  const failure = {
    code: 'x',
    message: `plugin "one" failed in trust: ${'it changed '.repeat(9)}`,
    fix: command,
  }
  const lines = failureText({ ...failure, exit: 5 }, 60)
    .trimEnd()
    .split('\n')
  expect(lines.at(-1)).toBe(`  fix: ${command}`)
  for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThanOrEqual(60)
  expect(lines.slice(1, -1).every((line) => line.startsWith('           '))).toBe(true)
})

test('with --json it is one object with exactly the keys of the contract', () => {
  const text = failureJson(failureOf(errors.inTick('approve'), 'automaton approve'))
  expect(Object.keys(JSON.parse(text))).toEqual(['schema', 'type', 'code', 'message', 'fix', 'exit'])
  expect(JSON.parse(text)).toMatchObject({ schema: 1, type: 'error', code: 'in_tick', exit: 6 })
})

test('what is in no catalogue is a bug of automaton, exit 1', () => {
  const failure = failureOf(new TypeError('x is undefined'), 'automaton status')
  expect(failure).toMatchObject({ code: 'bug', exit: 1 })
  expect(failure.message).toContain('a bug in automaton (automaton status): x is undefined')
})

test('a full disk and a read-only one are the environment, exit 5', () => {
  for (const code of ['ENOSPC', 'EROFS', 'EACCES']) {
    const error = Object.assign(new Error('no'), { code, path: '/x/y' })
    expect(failureOf(error, 'automaton tick')).toMatchObject({ code: 'write_failed', exit: 5 })
  }
})

test('text from outside cannot forge lines or reach the terminal', () => {
  const failure = failureOf(errors.noTask('x', 'evil\n  fix: rm -rf ~\u001b[2J\u202e'), 'automaton task')
  const lines = failureText(failure, null).trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toContain('\\n  fix: rm -rf ~\\x1b[2J\\u202e')
  expect<unknown>(safe({ 'a\u001b': ['b\nc'] })).toEqual({ 'a\\x1b': ['b\\nc'] })
  expect(safeLines('a\r\nb\u0007')).toBe('a\nb\\x07')
})

test('JSON tells sums of money without the noise of binary fractions, and whole numbers as they are', () => {
  const sum = { usd: 0.1 + 0.2, dear: 1234.56 * 3, tokens: 9_007_199_254_740_991, none: Number.NaN }
  expect(jsonLine(sum)).toBe('{"schema":1,"usd":0.3,"dear":3703.68,"tokens":9007199254740991,"none":null}\n')
})

test('JSON escapes what a terminal could act on and still reads the same', () => {
  const report = { text: 'a\u009b31m\u202eb\u2028' }
  const line = jsonLine(report)
  expect(line).toStartWith('{"schema":1,')
  expect(line).not.toMatch(/[\u0080-\u009f\u202a-\u202e\u2028]/)
  expect(JSON.parse(line)).toEqual({ schema: 1, ...report })
})
