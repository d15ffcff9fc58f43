import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clearRun, type RunRecord, readRun, writeRun } from '../../src/store/run.ts'
import { makeLoop, makeStore, minute } from './fixtures.ts'

const record: RunRecord = {
  schema: 1,
  run: 'run-1',
  loop: 'nightly',
  tick: 4,
  task: 'fix-it',
  phase: 'implement',
  step: 'verify',
  automaton: { pid: 12, start: '345', boot: 'b' },
  session: { pid: 13, group: 13, start: '346' },
  started_at: minute(1),
  state_seq: 3,
  before: { head: 'a1', verified_sha: null, base_sha: 'a0' },
  brakes: { 'loop.json': 'hash' },
  repository: null,
  usage: { usd: 0.5, tokens: 100, unreported: 0 },
}

test('what a tick wrote down is read back, until it is cleared', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  expect(readRun(places)).toBeNull()
  writeRun(places, record)
  writeRun(places, {
    ...record,
    step: 'settle',
    session: null,
    usage: { usd: null, tokens: 0, unreported: 2 },
  })
  expect(readRun(places)).toMatchObject({ step: 'settle', session: null })
  clearRun(places)
  clearRun(places)
  expect(readRun(places)).toBeNull()
})

test.each<[string, string]>([
  ['cut off', JSON.stringify(record).slice(0, 50)],
  ['empty', ''],
  ['of another shape', JSON.stringify({ ...record, session: { pid: '13' } })],
  ['of another version', JSON.stringify({ ...record, schema: 2 })],
])('a record that is %s is a problem and no error', (_, text) => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  writeFileSync(places.run, text)
  expect(readRun(places)).toEqual({ problem: expect.any(String) })
})

test('a folder at the record’s place is reported and can be cleared', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  mkdirSync(join(places.run, 'deep'), { recursive: true })
  expect(readRun(places)).toEqual({ problem: 'it is a folder' })
  clearRun(places)
  expect(existsSync(places.run)).toBe(false)
})
