import { expect, test } from 'bun:test'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { load, peek, readLog } from '../../src/store/journal.ts'
import type { LoopPlaces } from '../../src/store/layout.ts'
import { rebuild } from '../../src/store/repair.ts'
import { makeLoop, makeStore, minute, work } from './fixtures.ts'

const options = { at: minute(50), by: 'human:pat', haltId: 'h1' }
const text = (file: string) => readFileSync(file, 'utf8')
const halted = (detail: string) => ({
  status: 'halted' as const,
  halt: { id: 'h1', reason: 'human_intervention' as const, detail, at: minute(50), files: [] },
})

/** Repairs, checks that state and log agree afterwards and go on, and returns the state. */
function repaired(places: LoopPlaces) {
  const state = rebuild(places, options)
  expect(load(places)).toMatchObject({ kind: 'tracked', state, ahead: null })
  expect(readLog(places).at(-1)).toMatchObject({ type: 'repaired', by: 'human:pat', at: minute(50) })
  expect(work(places, state).seq).toBe(state.seq + 1)
  return state
}

test('a lost state comes back from the log, halted', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 4)
  rmSync(places.state)
  expect(repaired(places)).toMatchObject({
    iteration_count: state.iteration_count,
    seq: 5,
    ...halted('repaired'),
  })
})

test('a state that was edited is kept beside, and the log counts', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 4)
  const edited = text(places.state).replace('"iteration_count": 3', '"iteration_count": 0')
  writeFileSync(places.state, edited)
  expect(repaired(places)).toMatchObject({ iteration_count: 3, ...halted('repaired') })
  expect(text(`${places.state}.damaged-20260301T105000000Z`)).toBe(edited)
})

test('a folder or a pipe at the state’s place goes aside', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 2)
  rmSync(places.state)
  mkdirSync(places.state)
  repaired(places)
  rmSync(places.state)
  Bun.spawnSync(['mkfifo', places.state])
  repaired(places)
  const stamp = '.state.loop.damaged-20260301T105000000Z'
  expect(readdirSync(places.dir).filter((name) => name.startsWith(stamp))).toEqual([stamp, `${stamp}-2`])
})

test('the end of a log that went bad is moved away, and the chain goes on from the last good line', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 5)
  const [one = '', two = '', three = '', four = '', five = ''] = text(places.log).split('\n')
  const bad = four.replace('"seq":4', '"seq":9')
  writeFileSync(places.log, [one, two, three, bad, five, ''].join('\n'))
  const state = repaired(places)
  expect(state).toMatchObject({ seq: 4, ...halted('repaired') })
  expect(text(places.log).split('\n').slice(0, 3)).toEqual([one, two, three])
  expect(text(`${places.log}.torn`).split('\n')).toEqual([bad, five, ''])
})

test('a log that lost its end does not take back ticks and spend', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 3)
  const cost = { usd: 4, tokens: 700, reported: true }
  const short = text(places.log)
  const spent = work(places, { ...state, cost, wall_seconds: 60 })
  writeFileSync(places.log, short)
  expect(peek(places).problem?.code).toBe('state_tampered')
  const after = repaired(places)
  expect(after).toMatchObject({ seq: 4, iteration_count: spent.iteration_count, cost, wall_seconds: 60 })
})

test('a log line whose state was never written counts', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  renameSync(places.state, `${places.state}.old`)
  work(places, state)
  renameSync(`${places.state}.old`, places.state)
  expect(repaired(places)).toMatchObject({ iteration_count: 2, seq: 4 })
})

const makeFolder = ({ log }: LoopPlaces) => {
  rmSync(log)
  mkdirSync(log)
}

test.each<[string, (places: LoopPlaces) => void]>([
  ['gone', (places) => rmSync(places.log)],
  ['empty', (places) => writeFileSync(places.log, '')],
  ['garbage', (places) => writeFileSync(places.log, 'hello\nworld')],
  ['a folder', makeFolder],
])('with a log that is %s, the state counts and the chain begins anew', (_, damage) => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 4)
  damage(places)
  expect(repaired(places)).toMatchObject({ seq: 1, iteration_count: 3, ...halted('repaired') })
})

test('with neither, the loop begins at zero, halted, and says so', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 4)
  truncateSync(places.state, 10)
  rmSync(places.log)
  expect(repaired(places)).toMatchObject({ seq: 1, iteration_count: 0, ...halted('repaired:no-history') })
})

test('a halt, a pause or an end before the repair is a halt after it', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  work(places, { ...state, status: 'complete' })
  expect(repaired(places)).toMatchObject(halted('repaired'))
})

test('the state of a newer automaton is not rebuilt', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  const newer = text(places.state).replace('"schema_version": 1', '"schema_version": 7')
  writeFileSync(places.state, newer)
  expect(() => rebuild(places, options)).toThrow('schema_version 7')
  expect(text(places.state)).toBe(newer)
})

test('temporary files of writers that died go', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  writeFileSync(`${places.dir}/.automaton-tmp-0123456789abcdef`, 'half')
  repaired(places)
  expect(readdirSync(places.dir).filter((name) => name.includes('tmp'))).toEqual([])
})
