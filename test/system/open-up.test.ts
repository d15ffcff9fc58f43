import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openUp } from '../../src/system/open-up.ts'
import { tempDir } from '../helpers/temp.ts'

test('a worktree that cannot be listed is an error, and never a closed entry of its own', () => {
  using dir = tempDir()
  const worktree = join(dir.path, 'worktree')
  writeFileSync(worktree, '')
  // A name that is empty would stand for the worktree itself where closed entries are taken away.
  expect(() => openUp(worktree, [])).toThrow('ENOTDIR')
})
