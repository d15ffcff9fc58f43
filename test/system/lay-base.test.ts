import { expect, test } from 'bun:test'
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkoutBase, readFilesBelow } from '../../src/system/base-checkout.ts'
import { layBase } from '../../src/system/lay-base.ts'
import { findRepository } from '../../src/system/repository.ts'
import { snapshot } from '../../src/system/snapshot.ts'
import { ensureWorktree, restoreWorktree } from '../../src/system/worktree.ts'
import { git, makeRepo } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

const files = {
  'src/a.txt': 'a\n',
  'test/one.txt': 'one\n',
  'test/gone.txt': 'gone\n',
  'test/run.sh': '#!/bin/sh\nexit 1\n',
  'test/deep/two.txt': 'two\n',
}

/** A worktree in which a session has worked, and the tree that it left. */
async function worked(dir: string) {
  const root = makeRepo(join(dir, 'repo'), files)
  const repo = findRepository(root)
  if (!repo) throw new Error('no repository')
  const worktree = join(dir, 'loops', 'nightly', 'worktree')
  mkdirSync(join(dir, 'loops', 'nightly'), { recursive: true })
  const base = git(root, 'rev-parse', 'HEAD')
  await ensureWorktree({ repo, path: worktree, branch: 'automaton/nightly', base })
  const inside = (path: string) => join(worktree, path)
  writeFileSync(inside('src/a.txt'), 'better\n')
  writeFileSync(inside('test/one.txt'), 'rigged\n')
  rmSync(inside('test/gone.txt'))
  rmSync(inside('test/run.sh'))
  symlinkSync('one.txt', inside('test/run.sh'))
  writeFileSync(inside('test/new.txt'), 'new\n')
  // A file in the place of a folder.
  rmSync(inside('test/deep'), { recursive: true })
  writeFileSync(inside('test/deep'), 'no folder\n')
  await using now = await snapshot({ repo, worktree, persist: true })
  return { root, repo, worktree, base, tree: now.tree, inside }
}

const inTests = (path: string) => path.startsWith('test/')

test('covered files are those of the base: changed, gone, added, of another kind; the others stay', async () => {
  using dir = tempDir()
  const { repo, worktree, base, tree, inside } = await worked(dir.path)
  const laid = await layBase({ repo, worktree, tree, base, covers: inTests })
  expect(readFileSync(inside('test/one.txt'), 'utf8')).toBe('one\n')
  expect(readFileSync(inside('test/gone.txt'), 'utf8')).toBe('gone\n')
  expect(readFileSync(inside('test/deep/two.txt'), 'utf8')).toBe('two\n')
  expect(lstatSync(inside('test/run.sh')).isFile()).toBe(true)
  expect(lstatSync(inside('test/run.sh')).mode & 0o111).toBe(0o111)
  expect(existsSync(inside('test/new.txt'))).toBe(false)
  expect(readFileSync(inside('src/a.txt'), 'utf8')).toBe('better\n')
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.tree).toBe(laid)
})

test('the branch does not move, and the work can be put back', async () => {
  using dir = tempDir()
  const { root, repo, worktree, base, tree, inside } = await worked(dir.path)
  const work = git(root, 'commit-tree', '-p', base, '-m', 'work', tree)
  await layBase({ repo, worktree, tree, base, covers: inTests })
  expect(git(root, 'rev-parse', 'automaton/nightly')).toBe(base)
  await restoreWorktree({ repo, worktree, commit: work })
  expect(readFileSync(inside('test/one.txt'), 'utf8')).toBe('rigged\n')
  expect(readFileSync(inside('test/deep'), 'utf8')).toBe('no folder\n')
})

test('where nothing is covered, nothing is touched', async () => {
  using dir = tempDir()
  const { repo, worktree, base, tree } = await worked(dir.path)
  expect(await layBase({ repo, worktree, tree, base, covers: () => false })).toBe(tree)
})

test('a checkout of the base has its files and nothing else, and goes with its scope', async () => {
  using dir = tempDir()
  const { repo, base } = await worked(dir.path)
  let path = ''
  {
    using checkout = await checkoutBase({ repo, commit: base })
    path = checkout.path
    expect(readFileSync(join(path, 'test/one.txt'), 'utf8')).toBe('one\n')
    expect(existsSync(join(path, '.git'))).toBe(false)
    symlinkSync('/etc/passwd', join(path, 'test/link.txt'))
    mkdirSync(join(path, 'node_modules/x'), { recursive: true })
    writeFileSync(join(path, 'node_modules/x/three.txt'), '3\n')
    const found = (maxBytes: number) =>
      readFilesBelow({ folder: path, matches: (name) => name.endsWith('.txt'), maxFiles: 3, maxBytes })
    expect(found(100).map((file) => file.path)).toEqual(['src/a.txt', 'test/deep/two.txt', 'test/gone.txt'])
    expect(found(3).map((file) => file.text)).toEqual(['a\n'])
  }
  expect(existsSync(path)).toBe(false)
})
