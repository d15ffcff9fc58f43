import { expect, test } from 'bun:test'
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { placesIn } from '../../src/store/layout.ts'
import { memoryFile, readMemory, writeMemory } from '../../src/store/memory.ts'
import { tempDir } from '../helpers/temp.ts'

const kept = {
  schema: 1 as const,
  base: 'abc',
  verifiers: { 'metric-1': { best: 3, start: false, note: 'x' } },
}

test('what was written is read again, by nobody else', () => {
  using dir = tempDir()
  const places = placesIn(dir.path, 'nightly')
  expect(readMemory(places, 'abc')).toEqual({ schema: 1, base: 'abc', verifiers: {} })
  writeMemory(places, kept)
  expect(readMemory(places, 'abc')).toEqual(kept)
  expect(statSync(memoryFile(places)).mode & 0o777).toBe(0o600)
})

test('another base commit starts with nothing', () => {
  using dir = tempDir()
  const places = placesIn(dir.path, 'nightly')
  writeMemory(places, kept)
  expect(readMemory(places, 'def')).toEqual({ schema: 1, base: 'def', verifiers: {} })
  expect(readMemory(places, null).verifiers).toEqual({})
})

test('what is no memory is as good as none', () => {
  using dir = tempDir()
  const places = placesIn(dir.path, 'nightly')
  const file = memoryFile(places)
  const none = { schema: 1 as const, base: 'abc', verifiers: {} }
  for (const text of ['', 'x', '{}', '{"schema":1,"base":"abc","verifiers":{"m":{"best":[]}}}']) {
    writeFileSync(file, text)
    expect(readMemory(places, 'abc')).toEqual(none)
  }
  const other = placesIn(join(dir.path, 'other'), 'other')
  mkdirSync(other.dir)
  symlinkSync('/etc/passwd', memoryFile(other))
  expect(readMemory(other, 'abc')).toEqual(none)
})
