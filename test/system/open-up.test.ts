import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRoot, openUp } from '../../src/system/open-up.ts'
import { tempDir } from '../helpers/temp.ts'

test('a worktree that cannot be listed is closed as a whole', () => {
  using dir = tempDir()
  const worktree = join(dir.path, 'worktree')
  writeFileSync(worktree, '')
  expect(openUp(worktree, [])).toEqual({ closed: [''], removed: [], gits: [] })
})

test('a link in the place of a worktree opens nothing', () => {
  using dir = tempDir()
  const theirs = join(dir.path, 'theirs')
  mkdirSync(theirs)
  chmodSync(theirs, 0o500)
  symlinkSync(theirs, join(dir.path, 'worktree'))
  openRoot(join(dir.path, 'worktree'))
  expect(openUp(join(dir.path, 'worktree'), []).closed).toEqual([''])
  expect(statSync(theirs).mode & 0o777).toBe(0o500)
})
