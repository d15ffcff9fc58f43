import { expect, test } from 'bun:test'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { distrust, isInside, ownProgram } from '../../src/system/own-programs.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

test('a program of automaton’s own comes from the first absolute folder that no session can write', () => {
  using dir = tempDir()
  const place = (name: string) => join(dir.path, name)
  for (const name of ['theirs/bin', 'mine']) {
    writeFiles(place(name), { x: '' })
    writeFileSync(join(place(name), 'tool'), '#!/bin/sh\n', { mode: 0o755 })
  }
  symlinkSync(place('theirs/bin'), place('link'))
  writeFiles(place('links'), { x: '' })
  symlinkSync(place('theirs/bin/tool'), join(place('links'), 'tool'))
  const path = ['.', '', place('theirs/bin'), place('link'), place('links'), place('mine')].join(':')
  expect(ownProgram('tool', path)).toBe(place('theirs/bin/tool'))
  distrust([place('theirs'), '/'])
  expect(ownProgram('tool', path)).toBe(place('mine/tool'))
  expect(ownProgram('tool', place('link'))).toBeNull()
})

test.each([
  ['/a/b', ['/a'], true],
  ['/a', ['/a'], true],
  ['/ab', ['/a'], false],
  ['/a', ['/'], false],
])('%s in %p: %p', (path, folders, inside) => {
  expect(isInside(path, folders)).toBe(inside)
})
