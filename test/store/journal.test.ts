import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { copyFileSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lastLine } from '../../src/store/chain.ts'
import { commit, completeAhead, glance, load, peek, readLog, touch } from '../../src/store/journal.ts'
import type { LoopPlaces } from '../../src/store/layout.ts'
import { makeLoop, makeStore, minute, work } from './fixtures.ts'
import { edit, lines, outcome, pipe, replace, setLines, text } from './vandal.ts'

test('a loop without state and log is untracked', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  rmSync(places.state)
  rmSync(places.log)
  expect(outcome(places)).toBe('untracked')
  expect(peek(places)).toEqual({ state: null, problem: null })
})

test('what was committed is what is loaded', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 4)
  expect(load(places)).toEqual({ kind: 'tracked', state, ahead: null, head: state.log_head })
  expect(state).toMatchObject({ seq: 4, iteration_count: 3, updated_at: minute(4) })
})

test('each line carries the hash of the line before, and the state the hash of the last', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 3)
  let prev = '0'.repeat(64)
  for (const [index, line] of lines(places).entries()) {
    expect(line.startsWith(`{"prev":"${prev}","seq":${index + 1},"at":"`)).toBe(true)
    expect(Object.keys(JSON.parse(line))).toEqual(['prev', 'seq', 'at', 'type', 'run', 'by', 'data', 'state'])
    prev = createHash('sha256').update(line).digest('hex')
  }
  expect(state.log_head).toBe(prev)
})

test('no field can break a line', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  const nasty = 'a\n{"prev":"x"}\r\n\u2028\u2029\u0000\u001b[31m\ud800"'
  const next = { ...state, next_hint: nasty }
  const entry = { type: 'tick', run: nasty, by: nasty, data: { [nasty]: nasty }, at: minute(1) }
  const written = commit(places, state, next, entry)
  expect(lines(places)).toHaveLength(2)
  expect([...'\r\u2028\u2029\u0000\u001b'].filter((odd) => text(places.log).includes(odd))).toEqual([])
  expect(outcome(places)).toBe('ok')
  expect(readLog(places)[1]).toMatchObject({ run: nasty, by: nasty, data: { [nasty]: nasty } })
  expect(written.next_hint).toBe(nasty)
})

test('touch changes two times and no record', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  const before = text(places.log)
  const touched = touch(places, state, { lastTickAt: minute(30) })
  expect(touched).toEqual({ ...state, last_tick_at: minute(30), updated_at: minute(30) })
  expect(load(places)).toMatchObject({ state: touched, ahead: null })
  expect(text(places.log)).toBe(before)
  expect(work(places, touched).last_tick_at).toBe(minute(30))
})

test('state files are private', () => {
  using store = makeStore()
  const before = process.umask(0)
  const { places } = makeLoop(store.project, 2)
  process.umask(before)
  expect([places.state, places.log, places.config, places.dir].map((f) => lstatSync(f).mode & 0o777)).toEqual(
    [0o600, 0o600, 0o600, 0o700],
  )
})

test('a log that is no file that can be read is damage', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 2)
  rmSync(places.log)
  Bun.spawnSync(['mkfifo', places.log])
  expect(outcome(places)).toBe('state_damaged')
  expect(readLog(places)).toEqual([])
})

test('a log line without its state is finished exactly once', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  copyFileSync(places.state, `${places.state}.old`)
  const written = work(places, state, { data: { tick: 3 } })
  copyFileSync(`${places.state}.old`, places.state)

  const loaded = load(places)
  if (loaded.kind !== 'tracked') throw new Error('untracked')
  expect(loaded.state).toEqual(state)
  expect(loaded.ahead).toMatchObject({ seq: 3, type: 'tick', data: { tick: 3 }, task: null })
  expect(peek(places)).toEqual({ state: written, problem: null })
  expect(text(places.state)).toBe(text(`${places.state}.old`))

  expect(completeAhead(places, loaded)).toEqual(written)
  expect(outcome(places)).toBe('ok')
  const later = work(places, written)
  expect(completeAhead(places, loaded)).toEqual(later)
  expect(load(places)).toMatchObject({ state: later, ahead: null })
  expect(lines(places)).toHaveLength(4)
})

test('two log lines without their state are a rollback, not an unfinished write', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  copyFileSync(places.state, `${places.state}.old`)
  work(places, work(places, state))
  copyFileSync(`${places.state}.old`, places.state)
  expect(outcome(places, { repair: true })).toBe('state_tampered')
})

test('a state that was edited as well is not finished from the log', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  const old = text(places.state)
  work(places, state)
  writeFileSync(places.state, old.replace('"resumed_count": 0', '"resumed_count": 9'))
  expect(outcome(places)).toBe('state_tampered')
})

test('a last line that was cut off is ignored by readers and moved away by the next writer', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  const good = text(places.log)
  writeFileSync(places.log, `${good}{"prev":"${state.log_head}","seq":3,"at`)
  expect(outcome(places)).toBe('ok')
  expect(text(places.log)).not.toBe(good)
  expect(outcome(places, { repair: true })).toBe('ok')
  expect(text(places.log)).toBe(good)
  expect(text(`${places.log}.torn`)).toBe(`{"prev":"${state.log_head}","seq":3,"at\n`)
  writeFileSync(places.log, `${good}\xff half`, 'latin1')
  work(places, state)
  expect(outcome(places)).toBe('ok')
  expect(readFileSync(`${places.log}.torn`).at(-7)).toBe(0xff)
})

test('a log that moved on without the writer is not written to', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  work(places, state)
  const before = text(places.log)
  expect(() => work(places, state)).toThrow('it does not end at record 2')
  expect(text(places.log)).toBe(before)
})

test.each<[string, (places: LoopPlaces) => void, number]>([
  ['deleted', (p) => rmSync(p.log), 1],
  ['shortened', (p) => setLines(p, (l) => l.slice(0, 2)), 3],
  ['lengthened', (p) => writeFileSync(p.log, `${text(p.log)}{"forged":true}\n`), 5],
  ['changed inside', (p) => edit(p.log, 'hint 1', 'hint 0'), 3],
  ['replaced by a pipe', (p) => replace(p.log, () => pipe(p.log)), 1],
])('a halt can be written over a log that was %s, from memory', (_, tamper, seq) => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 4)
  tamper(places)
  const written = work(places, state, { type: 'halt', mend: true })
  expect(written).toMatchObject({ seq, iteration_count: 4 })
  expect(load(places)).toMatchObject({ state: written, ahead: null })
  expect(work(places, written).seq).toBe(seq + 1)
})

test('a record keeps the task that it moves, and what is written between line and state sees the line', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  const at = minute(1)
  const task = {
    schema_version: 2 as const,
    task: 'fix-it',
    phase: 'code_review' as const,
    previous_phase: 'implement' as const,
    blocked_reason: null,
    claimed_by: null,
    design_ref: null,
    scope: [],
    acceptance_criteria: [],
    origin: { kind: 'human', fingerprint: null },
    sessions: { implement: 's1' },
    models: {},
    history: [],
    created_at: at,
    updated_at: at,
  }
  const seen: string[] = []
  const entry = { type: 'tick', run: null, by: 'tick', data: {}, at, task }
  commit(places, state, state, entry, () => seen.push(outcome(places)))
  expect(seen).toEqual(['ahead'])
  expect(readLog(places)[1]?.task).toEqual(task)
  expect(outcome(places)).toBe('ok')
})

test('a write that stops between line and state is finished by the next reader', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  const stop = () => {
    throw new Error('killed')
  }
  const next = { ...state, iteration_count: 1 }
  const entry = { type: 'tick', run: null, by: 'tick', data: {}, at: minute(1) }
  expect(() => commit(places, state, next, entry, stop)).toThrow('killed')
  expect(outcome(places)).toBe('ahead')
  expect(peek(places).state?.iteration_count).toBe(1)
})

test('a state that no reader would accept is not written', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  const before = text(places.log)
  const entry = { type: 'tick', run: null, by: 'tick', data: {}, at: minute(1) }
  expect(() => commit(places, state, { ...state, score_history: [Number.NaN] }, entry)).toThrow(
    'nobody could read',
  )
  expect(() => touch(places, state, { lastTickAt: 'yesterday' })).toThrow('nobody could read')
  expect([text(places.log), outcome(places)]).toEqual([before, 'ok'])
})

test('the history can be read in part, and up to where it goes bad', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 5)
  const numbers = (options = {}) => readLog(places, options).map((record) => record.seq)
  expect(numbers()).toEqual([1, 2, 3, 4, 5])
  expect(numbers({ after: 3 })).toEqual([4, 5])
  expect(numbers({ last: 2 })).toEqual([4, 5])
  edit(places.log, 'hint 2', 'hint 0')
  expect(numbers()).toEqual([1, 2, 3])
  rmSync(places.log)
  expect(numbers()).toEqual([])
})

test('a look at a damaged loop shows what there is and what is wrong, and never throws', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project, 3)
  rmSync(places.log)
  expect(peek(places)).toMatchObject({ state: { seq: 3 }, problem: { code: 'state_tampered', exit: 6 } })
  rmSync(places.state)
  mkdirSync(places.state)
  expect(peek(places)).toMatchObject({ state: null, problem: { code: 'state_damaged', exit: 5 } })
})

test('long lines and long logs are read from the end', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  const long = work(places, { ...state, last_task: 'x'.repeat(300_000) })
  const next = work(places, long)
  expect(load(places)).toMatchObject({ state: next, ahead: null })
})

test('a reader without the lock never sees a loop in a state that it was not in', async () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  const reading = Bun.spawn(
    [process.execPath, join(import.meta.dir, '../fixtures/bin/store-peeker.ts'), store.root],
    {
      stdin: 'pipe',
      stdout: 'pipe',
    },
  )
  const reader = reading.stdout.getReader()
  await reader.read()
  let now = state
  for (let n = 0; n < 50; n++) now = work(places, now)
  reading.stdin.end()
  const { value } = await reader.read()
  const { looks, problems } = JSON.parse(Buffer.from(value ?? []).toString())
  expect(problems).toEqual([])
  expect(looks).toBeGreaterThan(5)
})

test('a glance takes the state that the log ends at, and looks closer where it ends elsewhere', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 3)
  expect(glance(places)).toEqual(state)
  // The middle of the log is not read for it.
  setLines(places, (all) => ['{', ...all.slice(1)])
  expect(glance(places)).toEqual(state)
  rmSync(places.state)
  expect(glance(places)).toBeNull()
})

test('a glance sees a write whose state is not there yet', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  const before = readFileSync(places.state)
  const written = work(places, state)
  writeFileSync(places.state, before)
  expect(glance(places)).toEqual(written)
})

test('the last line of a log’s first bytes is that which ended there', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project, 2)
  const before = lastLine(places.log)
  work(places, state)
  expect(lastLine(places.log)?.hash).not.toBe(before?.hash)
  const upTo = (before?.end ?? 0) + 1
  expect(lastLine(places.log, { upTo })).toEqual(before)
  expect(lastLine(places.log, { upTo: upTo + 10 })).toMatchObject({ end: before?.end, torn: 10 })
})
