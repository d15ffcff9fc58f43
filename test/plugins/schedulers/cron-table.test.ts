import { describe, expect, test } from 'bun:test'
import {
  cronLine,
  cronWord,
  entryOf,
  foreignPart,
  hasAllOf,
  withLine,
  withoutLine,
} from '../../../plugins/schedulers/cron-table.ts'
import type { Unit } from '../../../src/api/scheduler.ts'

const unit = (change: Partial<Unit> = {}): Unit => ({
  loop: 'nightly',
  project: '/p',
  script: '/p/tick.sh',
  intervalSeconds: 3600,
  ...change,
})
const lineOf = (one: Unit) => {
  const made = cronLine(one)
  if ('refused' in made) throw new Error(made.refused)
  return made.line
}
const mine = lineOf(unit())

/** Tables of other people's, each of which must come out as it went in. */
const foreign: [string, string][] = [
  ['nothing', ''],
  ['a line', '0 5 * * * backup\n'],
  ['a line without a final newline', '0 5 * * * backup'],
  ['carriage returns', 'MAILTO=me\r\n0 5 * * * backup\r\n'],
  ['bytes that are no UTF-8', '0 5 * * * echo \xff\xfe\x80\n'],
  ['empty lines and comments', '\n\n# 0 5 * * * old\n   \n\n'],
  ['a null byte', '0 5 * * * a\0b\n'],
  ['a comment that only looks like ours', '# automaton-loop: nightly is mine\n'],
  ['a line of another loop', `${lineOf(unit({ loop: 'weekly' }))}\n`],
  ['a line of a loop whose name ends alike', `${lineOf(unit({ loop: 'my-nightly' }))}\n`],
  ['a line of another project', `${lineOf(unit({ project: '/q', script: '/q/tick.sh' }))}\n`],
]

describe('a crontab', () => {
  test('gets one line that says whose it is', () => {
    expect(mine).toMatch(/^0 \* \* \* \* \/p\/tick\.sh # automaton-loop:nightly:[0-9a-f]{8}$/)
  })

  test.each(foreign)('with %s is the same before and after, byte for byte', (_, table) => {
    const with1 = withLine(table, unit(), mine)
    const isOpen = table !== '' && !table.endsWith('\n')
    expect(with1).toBe(isOpen ? `${mine}\n${table}` : `${table}${mine}\n`)
    expect(withLine(with1, unit(), mine)).toBe(with1)
    expect(withoutLine(with1, unit())).toBe(table)
    expect(withoutLine(table, unit())).toBe(table)
    expect(entryOf(table, unit(), mine)).toEqual({ installed: false, enabled: false, drift: [] })
    expect(entryOf(with1, unit(), mine)).toEqual({ installed: true, enabled: true, drift: [] })
    expect(hasAllOf(table, with1)).toBe(true)
  })

  test('keeps our line where a person moved it, and loses its doubles', () => {
    const moved = `MAILTO=me\n${mine}\n0 5 * * * backup\n${mine}\r\n`
    expect(withLine(moved, unit(), mine)).toBe(`MAILTO=me\n${mine}\n0 5 * * * backup\n`)
    expect(withoutLine(moved, unit())).toBe('MAILTO=me\n0 5 * * * backup\n')
  })

  test.each([
    ['another period', mine.replace('0 *', '5 *'), true],
    ['another command', mine.replace('/p/tick.sh', '/tmp/evil.sh'), true],
    ['a carriage return', `${mine}\r`, true],
    ['a comment sign before it', `# ${mine}`, false],
  ])('whose line of ours has %s is put right', (_, line, enabled) => {
    const table = `${line}\nx\n`
    const entry = entryOf(table, unit(), mine)
    expect({ ...entry, drift: entry.drift.length > 0 || !entry.enabled || line.endsWith('\r') }).toEqual({
      installed: true,
      enabled,
      drift: true,
    })
    expect(withLine(table, unit(), mine)).toBe(`${mine}\nx\n`)
  })

  test('whose line of ours is there twice has drifted', () => {
    expect(entryOf(`${mine}\n${mine}\n`, unit(), mine).drift).toEqual(['the crontab has 2 lines for it'])
  })

  test('knows which lines are other people’s', () => {
    const weekly = lineOf(unit({ loop: 'weekly', intervalSeconds: 60 }))
    expect(foreignPart(`a\n${mine}\nb\n${weekly}`)).toBe('a\nb\n')
    expect(hasAllOf('a\nb\n', 'x\na\nb')).toBe(true)
    expect(hasAllOf('a\nb\n', 'b\na\n')).toBe(false)
    expect(hasAllOf('a\r\n', 'a\n')).toBe(false)
  })

  test.each([
    ['a newline', { script: '/p/a\nb/tick.sh' }],
    ['a path that is too long', { script: `/p/${'x'.repeat(1000)}/tick.sh` }],
    ['an interval that cron cannot keep', { intervalSeconds: 90 }],
  ])('refuses %s', (_, change) => {
    expect(cronLine(unit(change))).toEqual({ refused: expect.any(String) })
  })
})

/** What cron makes of a command: everything after a bare `%` is input; some take the backslash off a backslash too. */
function asCronReads(command: string, unescapes: string): string {
  let read = ''
  for (let i = 0; i < command.length; i++) {
    const next = command[i + 1] ?? ''
    if (command[i] === '%') return read
    if (command[i] === '\\' && next !== '' && unescapes.includes(next)) i += 1
    else if (command[i] === '\\' && next !== '') {
      read += '\\'
      i += 1
    }
    read += command[i]
  }
  return read
}

describe('a path in a crontab', () => {
  test.each([
    '/plain/path-1.2/x',
    '/with space/x',
    '/100%/x',
    '/%d%%/x',
    "/it's/x",
    `/"double"/x`,
    '/$HOME/$(touch x)/`id`/x',
    '/a;b&c|d<e>f(g)h{i}j/x',
    '/*?[a-z]~!#/x',
    '/back\\slash/x',
    '/two\\\\slashes\\/x',
    '/\\%/x',
    "/\\'%\\\\%'/x",
    '/ümlaut/日本/x',
  ])('%p arrives whole, whichever cron reads it', (path) => {
    const word = cronWord(path)
    for (const unescapes of ['%', '%\\']) {
      const read = asCronReads(`printf %s ${word}`.replace('%s', '\\%s'), unescapes)
      const run = Bun.spawnSync(['/bin/sh', '-c', read], { env: { HOME: '/nowhere' }, stderr: 'pipe' })
      expect(run.stdout.toString()).toBe(path)
    }
  })
})
