import { expect, test } from 'bun:test'
import { advice } from '../../src/cli/advice.ts'

const long = 'word '.repeat(14).trim()
const file = `/home/somebody/${'folder/'.repeat(8)}one.ts`

test.each<[text: string, lines: string[]]>([
  ['automaton doctor', ['automaton doctor']],
  [`automaton plugins trust ${file}`, [`automaton plugins trust ${file}`]],
  [
    `correct it, then: automaton plugins trust ${file}`,
    ['correct it, then:', `automaton plugins trust ${file}`],
  ],
  [`rm -f '/a, b; c/index.lock', then go on`, [`rm -f '/a, b; c/index.lock', then go on`]],
  [
    'automaton release a-task-with-a-rather-long-name, if somebody is done with it',
    ['automaton release a-task-with-a-rather-long-name, if', 'somebody is done with it'],
  ],
  [
    'the task at hand waits for you; automaton approve --task fix-it --to implement',
    ['the task at hand waits for you;', 'automaton approve --task fix-it --to implement'],
  ],
  ['install git 2.38 or newer', ['install git 2.38 or newer']],
  [long, [long.slice(0, 54), long.slice(55)]],
])('in "%s" prose is wrapped and a command is not', (text, lines) => {
  expect(advice('fix:  ', text, 60)).toEqual(lines.map((line, i) => (i === 0 ? 'fix:  ' : '      ') + line))
})

test('a long text takes no time', () => {
  const before = performance.now()
  for (const piece of ["automaton '", 'automaton a ', '; git ', 'x']) advice('', piece.repeat(20_000), 80)
  expect(performance.now() - before).toBeLessThan(4000)
})
