import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Detection } from '../../src/machine/cards.ts'
import { findProject, type Project } from '../../src/store/layout.ts'
import { readVramCache, vramCacheFile, writeVramCache } from '../../src/store/vram-cache.ts'
import { tempDir } from '../helpers/temp.ts'

const at = '2026-06-22T10:00:00.000Z'
const detection: Detection = {
  bytes: 10 * 2 ** 30,
  source: 'nvidia-smi',
  device: 'NVIDIA GeForce RTX 3080',
  memory: 'own',
  tried: [{ probe: 'nvidia-smi', outcome: 'one card' }],
  at,
}
const unknown: Detection = { ...detection, bytes: null, source: null, device: null, memory: null }

const later = (hours: number) => new Date(Date.parse(at) + hours * 3_600_000)

function makeProject(dir: { path: string }, made = true): Project {
  const root = join(dir.path, 'repo')
  mkdirSync(made ? join(root, '.automaton') : join(root, '.git'), { recursive: true })
  return findProject({ cwd: root, home: join(dir.path, 'home') })
}

test('a look counts for 24 hours, what it did not find too', () => {
  using dir = tempDir()
  const project = makeProject(dir)
  for (const look of [detection, unknown]) {
    writeVramCache(project, look)
    expect(readVramCache(project, later(0))).toEqual(look)
    expect(readVramCache(project, later(23.9))).toEqual(look)
    expect(readVramCache(project, later(24))).toBeNull()
    // A clock that was put back.
    expect(readVramCache(project, later(-1))).toBeNull()
  }
})

test('where there is no .automaton, none is made', () => {
  using dir = tempDir()
  const project = makeProject(dir, false)
  writeVramCache(project, detection)
  expect(existsSync(project.automaton)).toBe(false)
  expect(readVramCache(project, later(0))).toBeNull()
})

test('what is no look of this machine does not count', () => {
  using dir = tempDir()
  const project = makeProject(dir)
  writeVramCache(project, detection)
  const file = vramCacheFile(project)
  const whole = readFileSync(file, 'utf8')
  const changed: [string, string][] = [
    ['"host": "', '"host": "other-'],
    ['10737418240', '0'],
    ['10737418240', '-5'],
    ['10737418240', '1.5'],
    ['10737418240', '"much"'],
    ['"schema": 1', '"schema": 2'],
    [at, 'yesterday'],
    ['{', '['],
  ]
  for (const [from, to] of changed) {
    writeFileSync(file, whole.replace(from, to))
    expect(readVramCache(project, later(0))).toBeNull()
  }
  writeFileSync(file, 'x'.repeat(300_000))
  expect(readVramCache(project, later(0))).toBeNull()
  writeFileSync(file, whole)
  expect(readVramCache(project, later(0))).toEqual(detection)
})

test('a link in its place is neither read nor written through', () => {
  using dir = tempDir()
  const project = makeProject(dir)
  const target = join(dir.path, 'target')
  writeVramCache(project, detection)
  const text = readFileSync(vramCacheFile(project), 'utf8')
  writeFileSync(target, text)
  const linked = makeProject({ path: join(dir.path, 'second') })
  mkdirSync(linked.cache)
  symlinkSync(target, vramCacheFile(linked))
  expect(readVramCache(linked, later(0))).toBeNull()
  writeVramCache(linked, unknown)
  expect(readFileSync(target, 'utf8')).toBe(text)
  expect(readVramCache(linked, later(0))).toEqual(unknown)
})
