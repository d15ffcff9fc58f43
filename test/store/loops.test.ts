import { expect, test } from 'bun:test'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { freshState } from '../../src/machine/state.ts'
import { load, readLog } from '../../src/store/journal.ts'
import { findProject, loopPlaces } from '../../src/store/layout.ts'
import { createLoop, ensureIgnore, listLoops } from '../../src/store/loops.ts'
import { makeLoop, makeStore, minute } from './fixtures.ts'

const loop = (name: string) => ({ config: '{}\n', state: freshState(name, minute(0)), by: 'human' })

test('a new loop has its configuration, its state, one record and nothing else', () => {
  using store = makeStore()
  const { places, state } = makeLoop(store.project)
  expect(readdirSync(places.dir).sort()).toEqual(['.state.log', '.state.loop', 'loop.json'])
  expect(load(places)).toMatchObject({ state, ahead: null })
  expect(readLog(places)).toMatchObject([{ seq: 1, type: 'created', by: 'human', at: minute(0) }])
  expect(readdirSync(store.project.loops)).toEqual(['nightly'])
})

test('a loop that exists is left untouched, whatever is there', () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  const before = readFileSync(places.state, 'utf8')
  expect(() => createLoop(store.project, loop('nightly'))).toThrow('loop exists already (nightly)')
  expect(readFileSync(places.state, 'utf8')).toBe(before)
  mkdirSync(loopPlaces(store.project, 'empty').dir)
  writeFileSync(loopPlaces(store.project, 'file').dir, '')
  expect(() => createLoop(store.project, loop('empty'))).toThrow('exists already')
  expect(() => createLoop(store.project, loop('file'))).toThrow('exists already')
  expect(() => createLoop(store.project, loop('No'))).toThrow('bad loop name')
  expect(readdirSync(store.project.loops).sort()).toEqual(['empty', 'file', 'nightly'])
})

test('a loop that cannot be made whole is not made at all', () => {
  using store = makeStore()
  const bad = { ...loop('nightly'), state: { ...freshState('nightly', minute(0)), fail_streak: -1 } }
  expect(() => createLoop(store.project, bad)).toThrow('nobody could read')
  expect(readdirSync(store.project.loops)).toEqual([])
})

test('loops are the folders with a configuration or a state, by name', () => {
  using store = makeStore()
  expect(listLoops(store.project)).toEqual([])
  createLoop(store.project, loop('zulu'))
  createLoop(store.project, loop('alpha'))
  for (const name of ['by-hand', 'damaged', 'empty', 'Bad-Name']) mkdirSync(join(store.project.loops, name))
  writeFileSync(join(store.project.loops, 'by-hand', 'loop.json'), '{}')
  symlinkSync('/nowhere', join(store.project.loops, 'damaged', '.state.loop'))
  writeFileSync(join(store.project.loops, 'Bad-Name', 'loop.json'), '{}')
  symlinkSync(join(store.project.loops, 'zulu'), join(store.project.loops, 'linked'))
  expect(listLoops(store.project)).toEqual(['alpha', 'by-hand', 'damaged', 'zulu'])
})

test('a folder of loops that cannot be listed is an error, not an empty list', () => {
  using store = makeStore()
  mkdirSync(store.project.automaton)
  writeFileSync(store.project.loops, '')
  expect(() => listLoops(store.project)).toThrow('cannot read')
})

test('the ignore file gets what is missing, once, and keeps the rest', () => {
  using store = makeStore()
  const file = join(store.project.automaton, '.gitignore')
  expect(ensureIgnore(store.project)).toBe(true)
  expect(readFileSync(file, 'utf8')).toBe('/loops/\n/cache/\n/tasks/*/.state\n')
  expect(ensureIgnore(store.project)).toBe(false)
  writeFileSync(file, '# mine\r\n/cache/\r\nlast')
  expect(ensureIgnore(store.project)).toBe(true)
  expect(readFileSync(file, 'utf8')).toBe('# mine\r\n/cache/\r\nlast\n/loops/\n/tasks/*/.state\n')
})

test('HOME ignores the state of its tasks where they are', () => {
  using store = makeStore()
  mkdirSync(store.home)
  const project = findProject({
    cwd: store.root,
    home: store.home,
    flag: store.home,
  })
  expect(ensureIgnore(project)).toBe(true)
  expect(readFileSync(join(store.home, 'tasks', '.gitignore'), 'utf8')).toBe('/*/.state\n')
  expect(ensureIgnore(project)).toBe(false)
  expect(existsSync(join(store.home, '.automaton', '.gitignore'))).toBe(true)
})

test('folders of the store are private', () => {
  using store = makeStore()
  const before = process.umask(0)
  const { places } = makeLoop(store.project)
  process.umask(before)
  const { automaton, loops } = store.project
  expect([automaton, loops, places.dir].map((folder) => lstatSync(folder).mode & 0o777)).toEqual([
    0o700, 0o700, 0o700,
  ])
})
