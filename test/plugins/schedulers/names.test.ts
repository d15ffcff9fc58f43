import { expect, test } from 'bun:test'
import { differences } from '../../../plugins/schedulers/differences.ts'
import { type Owner, plainPath, unitName } from '../../../plugins/schedulers/names.ts'
import { hostilePaths } from './machine.ts'

test('a unit has the short name, unless it is another’s and as long as it has no other one', async () => {
  const table: [short: Owner, withHash: Owner, name: string][] = [
    ['nobody', 'nobody', 'a'],
    ['us', 'nobody', 'a'],
    ['us', 'us', 'a'],
    ['other', 'nobody', 'a-hash'],
    ['other', 'us', 'a-hash'],
    ['nobody', 'us', 'a-hash'],
  ]
  for (const [short, withHash, name] of table) {
    const owner = async (asked: string) => (asked === 'a' ? short : withHash)
    expect(await unitName({ short: 'a', withHash: 'a-hash', owner })).toBe(name)
  }
})

test('a path with a control character is refused, any other is taken as it is', () => {
  for (const path of hostilePaths) expect(plainPath(path)).toBe(path)
  for (const path of ['/a\nb', '/a\rb', '/a\0', '/a\tb', '/a\x1b[0m', '/a\x7f']) {
    expect(() => plainPath(path)).toThrow('control character')
  }
})

test('a difference says what is there and what should be', () => {
  expect(differences({ A: '1', B: [1], C: true, D: 'x' }, { A: '2', B: [1], D: 'x', E: {} })).toEqual([
    'A is "2", and not "1"',
    'C is missing',
    'E is {}, and should not be there',
  ])
})
