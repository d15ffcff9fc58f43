import { expect, test } from 'bun:test'
import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { changedPrimary, primaryRecord } from '../../src/system/primary.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { hostileAttributes, makeCanary, makeLoop, plant, repositoryOf } from './fixtures.ts'

const files = {
  '.gitattributes': hostileAttributes,
  'a.txt': 'a\n',
  'b.txt': 'b\n',
  'run.sh': '#!/bin/sh\n',
  '.gitignore': 'out/\n',
}

test('tells which files of the checkout changed, whatever their state in git', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'), files)
  const repo = repositoryOf(root)
  writeFiles(root, { 'b.txt': 'mine\n', 'new file.txt': 'n\n', 'dropped.txt': 'd\n' })
  git(root, 'update-index', '--assume-unchanged', 'run.sh')
  const before = await primaryRecord(repo)
  expect(Object.keys(before)).toEqual(['b.txt', 'dropped.txt', 'new file.txt', 'run.sh'])
  expect(changedPrimary(before, await primaryRecord(repo, before))).toEqual([])
  writeFiles(root, {
    'a.txt': 'edited\n',
    'new file.txt': 'other\n',
    'é\n".txt': 'x\n',
    'run.sh': '#!/bin/sh\nx\n',
    'out/x': 'x\n',
  })
  git(root, 'add', 'a.txt')
  symlinkSync('a.txt', join(root, 'link'))
  rmSync(join(root, 'dropped.txt'))
  chmodSync(join(root, 'b.txt'), 0o755)
  const after = await primaryRecord(repo, before)
  expect(changedPrimary(before, after)).toEqual(
    ['a.txt', 'b.txt', 'dropped.txt', 'link', 'new file.txt', 'run.sh', 'é\n".txt'].sort(),
  )
})

test('a person who stages or commits what was there changed nothing', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'), { 'a.txt': 'a\n', 'b.txt': 'b\n' })
  const repo = repositoryOf(root)
  writeFiles(root, { 'a.txt': 'mine\n', 'new.txt': 'n\n' })
  const before = await primaryRecord(repo)
  git(root, 'add', '-A')
  expect(changedPrimary(before, await primaryRecord(repo, before))).toEqual([])
  git(root, 'commit', '-qm', 'mine')
  expect(changedPrimary(before, await primaryRecord(repo, before))).toEqual([])
})

test('what automaton writes is left out, in a project below the toplevel too', async () => {
  using dir = tempDir()
  const { root } = await makeLoop(join(dir.path, 'r'))
  writeFiles(root, {
    '.automaton/tasks/x/.state': '{}',
    'sub/.automaton/tasks/x/.state': '{}',
    'sub/a.txt': 'a\n',
  })
  expect(Object.keys(await primaryRecord(repositoryOf(join(root, 'sub'))))).toEqual([
    '.automaton/tasks/x/.state',
    'sub/a.txt',
  ])
  rmSync(join(root, 'sub'), { recursive: true })
  expect(await primaryRecord(repositoryOf(root))).toEqual({})
})

test('a repository without a commit has a record too', async () => {
  using dir = tempDir()
  git(dir.path, 'init', '-q', '-b', 'main')
  writeFiles(dir.path, { 'a.txt': 'a\n' })
  expect(Object.keys(await primaryRecord(repositoryOf(dir.path)))).toEqual(['a.txt'])
})

test('a large file is known by its size and times', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'))
  const repo = repositoryOf(root)
  writeFileSync(join(root, 'big.bin'), Buffer.alloc(2 << 20))
  const before = await primaryRecord(repo)
  expect(changedPrimary(before, await primaryRecord(repo, before))).toEqual([])
  writeFileSync(join(root, 'big.bin'), Buffer.alloc((2 << 20) + 1))
  expect(changedPrimary(before, await primaryRecord(repo, before))).toEqual(['big.bin'])
})

test('nothing that a session planted runs, and the index is left as it was', async () => {
  using dir = tempDir()
  const canary = makeCanary(join(dir.path, 'canary'))
  const root = makeRepo(join(dir.path, 'r'), files)
  const nested = makeRepo(join(root, 'nested'), { '.gitattributes': hostileAttributes, 'c.txt': 'c\n' })
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'with a link')
  plant(nested, canary)
  plant(root, canary)
  writeFiles(root, { 'a.txt': 'changed\n', 'nested/c.txt': 'changed\n' })
  const index = await Bun.file(join(root, '.git/index')).bytes()
  expect(Object.keys(await primaryRecord(repositoryOf(root)))).toEqual(['a.txt'])
  expect(await Bun.file(join(root, '.git/index')).bytes()).toEqual(index)
  expect(canary.marks()).toBe('')
})
