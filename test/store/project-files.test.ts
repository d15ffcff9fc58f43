import { expect, test } from 'bun:test'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { projectFiles } from '../../src/store/project-files.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

test('lists plain files, sorted, without built, downloaded, hidden and linked folders', () => {
  using dir = tempDir()
  writeFiles(dir.path, {
    'b.ts': '',
    'src/a.ts': '',
    'node_modules/x/index.js': '',
    'sub/node_modules/y.js': '',
    'dist/a.js': '',
    '.git/config': '',
    '.hidden/x.ts': '',
  })
  symlinkSync('/', join(dir.path, 'root'))
  symlinkSync(dir.path, join(dir.path, 'src', 'loop'))
  expect(projectFiles(dir.path)).toEqual(['b.ts', 'src/a.ts'])
})

test('a folder that cannot be read is no error', () => {
  expect(projectFiles('/nonexistent')).toEqual([])
})
