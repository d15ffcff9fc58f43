import { expect, test } from 'bun:test'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { filtersIn, namedFilters } from '../../src/system/filters.ts'
import { git, makeRepo } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { makeCanary, plant, repositoryOf } from './fixtures.ts'

test.each([
  ['*.bin filter=lfs diff=lfs merge=lfs -text\n', ['lfs']],
  ['"with space.bin" filter=lfs\n', ['lfs']],
  ['secret/** filter=git-crypt diff=git-crypt\n.gitattributes !filter !diff\n', ['git-crypt']],
  ['[attr]secret filter=crypt\r\n*.key secret\r\n', ['crypt']],
  ['# *.bin filter=lfs\n*.txt text eol=lf -filter\nfilter=x text\n', []],
  ['', []],
])('the filters of %j', (text, names) => {
  expect(filtersIn(text)).toEqual(names)
})

test('every attribute file of a commit counts, and the repository’s own; none of them runs', async () => {
  using dir = tempDir()
  const canary = makeCanary(join(dir.path, 'canary'))
  const root = makeRepo(join(dir.path, 'r'), {
    '.gitattributes': '*.bin filter=lfs\n',
    'deep/er/.gitattributes': '*.key filter=git-crypt\n*.bin filter=lfs\n',
    'deep/x.gitattributes': '* filter=no\n',
  })
  const head = git(root, 'rev-parse', 'HEAD')
  appendFileSync(join(root, '.git/info/attributes'), '* filter=evil\n')
  plant(root, canary)
  expect(await namedFilters(repositoryOf(root), head)).toEqual(['evil', 'git-crypt', 'lfs'])
  expect(canary.marks()).toBe('')
})
