import { expect, test } from 'bun:test'
import { appendFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileDigest, sha256 } from '../../src/system/digest.ts'
import { tempDir } from '../helpers/temp.ts'

test('a file is known by its bytes, and by its size and times where it is too large to read', () => {
  using dir = tempDir()
  const file = join(dir.path, 'file')
  writeFileSync(file, 'text')
  expect(fileDigest(file)).toBe(sha256('text'))
  truncateSync(file, 64 << 20)
  expect(fileDigest(file)).toMatch(/^[0-9a-f]{64}$/)
  truncateSync(file, 4 * 1024 ** 4)
  const before = fileDigest(file)
  expect(before).toMatch(/^large 4398046511104 /)
  expect(fileDigest(file)).toBe(before)
  appendFileSync(file, 'x')
  expect(fileDigest(file)).not.toBe(before)
})

test('what is no file, and what cannot be read, is something to find and no error', () => {
  using dir = tempDir()
  const loop = join(dir.path, 'loop')
  symlinkSync('loop', loop)
  symlinkSync('nowhere', join(dir.path, 'lost'))
  expect(fileDigest(dir.path)).toBe('special')
  expect(fileDigest(join(dir.path, 'lost'))).toBe('special')
  expect(fileDigest(loop)).toBe('unreadable ELOOP')
})
