import { expect, test } from 'bun:test'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import type { LoopPlaces } from '../../src/store/layout.ts'
import { makeLoop, makeStore, work } from './fixtures.ts'
import { edit, outcome, pipe, replace, setLines, text, why } from './vandal.ts'

test.each<[string, (file: string) => void, string]>([
  ['empty', (file) => writeFileSync(file, ''), 'it is empty'],
  ['truncated', (file) => truncateSync(file, 200), 'it is not JSON'],
  ['random bytes', (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0, 0x80])), 'it is not UTF-8 text'],
  ['a byte order mark', (file) => writeFileSync(file, `\ufeff${text(file)}`), 'it is not JSON'],
  ['trailing garbage', (file) => writeFileSync(file, `${text(file)}}`), 'it is not JSON'],
  ['Windows line ends', (file) => writeFileSync(file, text(file).replaceAll('\n', '\r\n')), 'its line ends'],
  [
    'a missing key',
    (file) => writeFileSync(file, text(file).replace(/ {2}"fail_streak.*\n/, '')),
    'fail_streak',
  ],
  ['an unknown key', (file) => writeFileSync(file, text(file).replace('{', '{"extra": 1,')), 'extra'],
  ['a wrong type', (file) => writeFileSync(file, text(file).replace(/"seq": 3/, '"seq": "3"')), 'seq'],
  ['a list', (file) => writeFileSync(file, '[]'), 'schema_version'],
  ['a huge file', (file) => truncateSync(file, 100 << 20), 'it has 104857600 bytes'],
  ['gone', (file) => rmSync(file), 'it is missing, but its log has history up to record 3'],
  ['a folder', (file) => replace(file, () => mkdirSync(file)), 'it is a folder'],
  ['a link', (file) => replace(file, (was) => symlinkSync(was, file)), 'it is a symbolic link'],
  ['a pipe', (file) => replace(file, () => pipe(file)), 'it is a pipe'],
])('a state that is %s is damaged, and stays as it is', (_, damage, reason) => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 3)
  damage(places.state)
  const before = readdirSync(places.dir).sort()
  expect(outcome(places)).toBe('state_damaged')
  expect(outcome(places, { repair: true })).toBe('state_damaged')
  expect(why(places)).toContain(`state cannot be read (/.state.loop): ${reason}`)
  expect(readdirSync(places.dir).sort()).toEqual(before)
})

test('a state of a newer automaton is not touched', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  writeFileSync(places.state, text(places.state).replace('"schema_version": 1', '"schema_version": 2'))
  expect(outcome(places)).toBe('state_too_new')
})

test.each<[string, (places: LoopPlaces) => void, string]>([
  [
    'edited by hand',
    (p) => edit(p.state, '"iteration_count": 3', '"iteration_count": 0'),
    'iteration_count is not',
  ],
  [
    'given another log_head',
    (p) => edit(p.state, /"log_head": ".*"/, `"log_head": "${'a'.repeat(64)}"`),
    'log_head',
  ],
  [
    'of another loop',
    (p) => edit(p.state, '"name": "nightly"', '"name": "other"'),
    'it is the state of other',
  ],
  ['ahead of its log', (p) => edit(p.state, '"seq": 4', '"seq": 5'), 'it ends at record 4'],
  ['without its log', (p) => rmSync(p.log), 'it is missing, but the state is at record 4'],
  ['with an empty log', (p) => writeFileSync(p.log, ''), 'it ends at record 0'],
  ['with a log that lost its last line', (p) => setLines(p, (l) => l.slice(0, -1)), 'it ends at record 3'],
  ['with a log that lost its first line', (p) => setLines(p, (l) => l.slice(1)), 'record 1 is numbered 2'],
  ['with a log out of order', (p) => setLines(p, ([a = '', b = '', ...r]) => [b, a, ...r]), 'numbered 2'],
  ['with a repeated line', (p) => setLines(p, ([a = '', ...r]) => [a, a, ...r]), 'record 2 is numbered 1'],
  [
    'with a flipped byte in an old line',
    (p) => edit(p.log, 'hint 1', 'hint 0'),
    'the chain breaks before record 3',
  ],
  [
    'with a flipped byte in the last line',
    (p) => edit(p.log, 'hint 3', 'hint 2'),
    'log_head is not the hash',
  ],
  [
    'with a line that is no record',
    (p) => setLines(p, ([a = '', ...r]) => [a, 'hello', ...r]),
    'is not a record',
  ],
])('a state %s does not match its log', (_, tamper, reason) => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 4)
  tamper(places)
  const before = [text(places.state), readdirSync(places.dir).sort()]
  expect(outcome(places)).toBe('state_tampered')
  expect(outcome(places, { repair: true })).toBe('state_tampered')
  expect(why(places)).toContain(reason)
  expect([text(places.state), readdirSync(places.dir).sort()]).toEqual(before)
})

test('an old state that was copied back is told by its log', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  copyFileSync(places.state, `${places.state}.old`)
  work(places, work(places, state))
  copyFileSync(`${places.state}.old`, places.state)
  expect(outcome(places)).toBe('state_tampered')
  expect(why(places)).toContain('the state went back from record 4 to 2')
})
