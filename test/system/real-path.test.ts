import { expect, test } from 'bun:test'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { realDestination } from '../../src/system/real-path.ts'
import { tempDir } from '../helpers/temp.ts'

test('a path is followed as far as there is something, and a link that leads nowhere to what it names', () => {
  using dir = tempDir()
  const at = (name: string) => join(dir.path, name)
  mkdirSync(at('real'))
  symlinkSync('real', at('link'))
  symlinkSync('real/later', at('dangling'))
  symlinkSync('ring', at('ring'))
  const names = ['link', 'link/new/x', 'dangling', 'dangling/x', 'new/x', 'ring']
  expect(names.map((name) => realDestination(at(name)))).toEqual(
    ['real', 'real/new/x', 'real/later', 'real/later/x', 'new/x', 'ring'].map(at),
  )
  // As the callback of a list it takes nothing but the path.
  expect(Array.from({ length: 3 }, () => at('dangling')).map(realDestination)[0]).toBe(at('real/later'))
})
