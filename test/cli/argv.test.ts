import { describe, expect, test } from 'bun:test'
import { takeApart, verbIn, wantsJson } from '../../src/cli/argv.ts'
import { matchCall } from '../../src/cli/program.ts'
import { verbs } from '../../src/cli/verbs.ts'
import { AutomatonError } from '../../src/errors.ts'

function input(...words: string[]) {
  const line = takeApart(words, verbs)
  if (!line.verb) throw new Error('no verb')
  return matchCall(line.verb, line).input
}

function failure(...words: string[]): AutomatonError {
  try {
    input(...words)
  } catch (error) {
    if (error instanceof AutomatonError) return error
    throw error
  }
  throw new Error('it was taken')
}

describe('a command line', () => {
  test('keeps every value as it was typed: numbers, dashes, empty ones', () => {
    expect(input('approve', '--loop', 'x', '--halt', '007').text('halt')).toBe('007')
    expect(input('approve', '--loop', 'x', '--note', '1e3').text('note')).toBe('1e3')
    expect(input('approve', '--loop', 'x', '--note=').text('note')).toBe('')
    expect(input('approve', '--loop', 'x', '--note=--halt').text('note')).toBe('--halt')
    expect(input('create-task', 't', '--brief', '-').text('brief')).toBe('-')
    expect(input('task', '007').arg(0)).toBe('007')
    expect(input('can-edit', '--', '-x').arg(0)).toBe('-x')
    expect(input('can-edit', '--json', '42').arg(0)).toBe('42')
  })

  test('takes global options before and after the command', () => {
    for (const words of [
      ['--json', '--project', 'status', 'status', 'nightly'],
      ['status', 'nightly', '--json', '--project=status'],
    ]) {
      const line = takeApart(words, verbs)
      expect(line.verb?.name).toBe('status')
      expect(line.args).toEqual(['nightly'])
      expect(line.options.get('project')).toEqual(['status'])
      expect(line.options.has('json')).toBe(true)
    }
  })

  test('collects an option that may be repeated, in order', () => {
    const words = ['create-loop', 'n', '--from-template', 'b', '--scope', 'src/', '--scope', '*.md']
    expect(input(...words).list('scope')).toEqual(['src/', '*.md'])
  })

  test('hands the rest of the words to an argument that takes them all', () => {
    expect(input('escalate', 'the', 'brief', 'lies').args).toEqual(['the', 'brief', 'lies'])
    expect(input('hold').args).toEqual([])
  })

  test('finds a command by its alias', () => {
    expect(verbIn(['loops'], verbs)?.name).toBe('loop-list')
  })

  test('asks for JSON only before --', () => {
    expect(wantsJson(['status', '--json'])).toBe(true)
    expect(wantsJson(['status', '--', '--json'])).toBe(false)
  })
})

describe('a usage error', () => {
  const rows: [words: string[], message: RegExp, fix: RegExp][] = [
    [['statsu'], /unknown command \(statsu\): did you mean "status"\?/, /^automaton status$/],
    [['frobnicate'], /unknown command \(frobnicate\): there is no such command/, /^automaton --help$/],
    [['status', '--jsn'], /unknown option \(--jsn of status\): did you mean --json\?/, /status --help/],
    [['create-loop', 'x', '--from-templat', 'b'], /did you mean --from-template\?/, /create-loop --help/],
    [['--check-gate'], /did you mean the command "check-gate"\?/, /^automaton check-gate$/],
    [['approve', '--loop'], /missing value \(--loop\): it needs LOOP/, /approve --help/],
    [['approve', '--loop', '--halt', 'x'], /missing value \(--loop\)/, /approve --help/],
    [['approve', '--loop', 'a', '--loop', 'b'], /it was given twice/, /approve --help/],
    [['status', '--json=yes'], /bad option \(--json\): it takes no value/, /status --help/],
    [
      ['pause-loop'],
      /missing argument \(automaton pause-loop\): it needs <loop>/,
      /automaton pause-loop <loop>/,
    ],
    [['transition', 't'], /it needs <phase>/, /automaton transition <task> <phase>/],
    [['pause-loop', 'a', 'b'], /unexpected argument \(b\)/, /automaton pause-loop <loop>/],
    [['-x', 'status'], /unknown option \(-x of status\)/, /status --help/],
  ]
  test.each(rows)('%p says what is wrong and what to type', (words, message, fix) => {
    const error = failure(...words)
    expect(error.message).toMatch(message)
    expect(error.fix).toMatch(fix)
    expect(error.exit).toBe(2)
  })

  test('a number that is none is refused before anything runs', () => {
    expect(() => input('log', 'x', '--tick', '1.5').integer('tick', 1)).toThrow(/no whole number from 1 up/)
    expect(() => input('log', 'x', '--tick', '0').integer('tick', 1)).toThrow(/no whole number/)
    expect(input('log', 'x', '--tick', '12').integer('tick', 1)).toBe(12)
  })
})
