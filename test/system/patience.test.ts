import { describe, expect, test } from 'bun:test'
import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { patiently } from '../../src/system/patience.ts'
import { removeTree } from '../../src/system/remove.ts'
import { tempDir } from '../helpers/temp.ts'

describe('a file that somebody else has open', () => {
  /** Fails with each of these codes in turn, then answers how often it was called. */
  function failing(...codes: string[]) {
    let calls = 0
    return () => {
      const code = codes[calls++]
      if (code !== undefined) throw Object.assign(new Error(code), { code })
      return calls
    }
  }

  test.each(['EACCES', 'EBUSY', 'EPERM'])('%s passes: the work is done again', (code) => {
    expect(patiently(failing(code, code), [0, 0])).toBe(3)
  })

  test('one that stays open is an error in the end, and the pauses are all that is waited', () => {
    const work = failing('EBUSY', 'EBUSY', 'EPERM')
    expect(() => patiently(work, [0, 0])).toThrow('EPERM')
    expect(work()).toBe(4)
  })

  test.each(['ENOENT', 'ENOSPC', 'EROFS'])('%s does not pass by itself', (code) => {
    expect(() => patiently(failing(code), [0, 0])).toThrow(code)
  })

  test('on systems that let an open file be renamed nothing is waited for', () => {
    const work = failing('EBUSY')
    if (process.platform !== 'win32') expect(() => patiently(work)).toThrow('EBUSY')
  })
})

test('a folder goes with all that is in it, and what its links point to stays', () => {
  using dir = tempDir()
  const folder = join(dir.path, 'folder')
  mkdirSync(join(folder, 'a', 'b'), { recursive: true })
  writeFileSync(join(folder, 'a', 'b', 'file'), 'x')
  writeFileSync(join(dir.path, 'kept'), 'x')
  symlinkSync(join(dir.path, 'kept'), join(folder, 'a', 'link'))
  removeTree(folder)
  expect(existsSync(folder)).toBe(false)
  expect(lstatSync(join(dir.path, 'kept')).isFile()).toBe(true)
  removeTree(folder)
  removeTree(Buffer.from(join(dir.path, 'kept')))
  expect(existsSync(join(dir.path, 'kept'))).toBe(false)
})
