import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { gitText } from '../../src/system/git.ts'
import { openUp } from '../../src/system/open-up.ts'
import { snapshot } from '../../src/system/snapshot.ts'
import { restoreWorktree } from '../../src/system/worktree.ts'
import { makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { makeLoop } from './fixtures.ts'

const modeOf = (path: string) => statSync(path).mode & 0o777

test('files in folders that cannot be opened are in the picture', async () => {
  using dir = tempDir()
  const { repo, worktree } = await makeLoop(join(dir.path, 'r'))
  writeFiles(worktree, { 'dark/x.txt': 'x\n', 'blind/deep/y.txt': 'y\n', 'shut.txt': 's\n' })
  chmodSync(join(worktree, 'dark'), 0o311)
  chmodSync(join(worktree, 'blind/deep'), 0o000)
  chmodSync(join(worktree, 'blind'), 0o600)
  chmodSync(join(worktree, 'shut.txt'), 0o000)
  await using now = await snapshot({ repo, worktree, persist: false })
  const names = await gitText(now.place, ['ls-tree', '-r', '--name-only', now.tree])
  expect(names.split('\n')).toEqual(['README.md', 'blind/deep/y.txt', 'dark/x.txt', 'shut.txt'])
  expect(now.tainted).toEqual([])
  // Root reads everything, so the rights themselves are looked at too.
  expect(modeOf(join(worktree, 'dark'))).toBe(0o711)
  expect(modeOf(join(worktree, 'blind'))).toBe(0o700)
  expect(modeOf(join(worktree, 'blind/deep'))).toBe(0o700)
  expect(modeOf(join(worktree, 'shut.txt'))).toBe(0o400)
})

test("rights in the person's own checkout and behind links stay as they are", async () => {
  using dir = tempDir()
  const { repo, root, worktree } = await makeLoop(join(dir.path, 'r'))
  writeFiles(root, { 'mine/x.txt': 'x\n' })
  writeFiles(dir.path, { 'outside/x.txt': 'x\n' })
  chmodSync(join(root, 'mine'), 0o500)
  chmodSync(join(dir.path, 'outside'), 0o500)
  symlinkSync(join(dir.path, 'outside'), join(worktree, 'link'))
  await using _primary = await snapshot({ repo, worktree: root, persist: false })
  await using _now = await snapshot({ repo, worktree, persist: false })
  expect(modeOf(join(root, 'mine'))).toBe(0o500)
  expect(modeOf(join(dir.path, 'outside'))).toBe(0o500)
  chmodSync(join(root, 'mine'), 0o700)
  chmodSync(join(dir.path, 'outside'), 0o700)
})

test('pipes with names that git opens are reported and do not hold it up', async () => {
  using dir = tempDir()
  const { repo, worktree } = await makeLoop(join(dir.path, 'r'))
  mkdirSync(join(worktree, 'sub/.git'), { recursive: true })
  const pipes = ['.gitattributes', 'sub/.git/HEAD', 'sub/.gitignore']
  for (const name of pipes) Bun.spawnSync(['mkfifo', join(worktree, name)])
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.tainted).toEqual(['.gitattributes', 'sub/.git', 'sub/.git/HEAD', 'sub/.gitignore'])
  expect(pipes.filter((name) => existsSync(join(worktree, name)))).toEqual([])
})

test('a .git below the root that is no repository is reported, unless its folder is ignored', async () => {
  using dir = tempDir()
  const { repo, worktree, base } = await makeLoop(join(dir.path, 'r'), { '.gitignore': 'cache/\n.git\n' })
  writeFiles(worktree, {
    'src/sub/.git/hooks/x': 'x',
    ':(top)*/.git/x': 'x',
    'cache/p/.git/hooks/x': 'x',
    'a/.GIT/config': 'x',
  })
  makeRepo(join(worktree, 'nested'), { 'b.txt': 'b\n' })
  writeFiles(worktree, { 'nested/deep/.git/x': 'x' })
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.tainted).toContain('src/sub/.git')
  expect(now.tainted).toContain(':(top)*/.git')
  expect(now.tainted.filter((name) => /^(cache|nested)\//.test(name))).toEqual([])
  expect(now.tainted.filter((name) => name.startsWith('a/'))).toHaveLength(1)
  await restoreWorktree({ repo, worktree, commit: base, branch: 'automaton/nightly' })
  expect(existsSync(join(worktree, 'src'))).toBe(false)
  expect(existsSync(join(worktree, 'cache/p/.git/hooks/x'))).toBe(true)
})

test('read-only folders do not keep their files when the worktree is put back', async () => {
  using dir = tempDir()
  const { repo, worktree, base } = await makeLoop(join(dir.path, 'r'), { 'lib/a.txt': 'a\n' })
  writeFiles(worktree, { 'lib/a.txt': 'b\n', 'lib/new/c.txt': 'c\n' })
  for (const name of ['lib/new', 'lib', '.']) chmodSync(join(worktree, name), 0o555)
  await restoreWorktree({ repo, worktree, commit: base, branch: 'automaton/nightly' })
  expect(existsSync(join(worktree, 'lib/new'))).toBe(false)
  expect(await Bun.file(join(worktree, 'lib/a.txt')).text()).toBe('a\n')
  expect(modeOf(join(worktree, 'lib')) & 0o700).toBe(0o700)
})

test('names of any bytes are opened, and the skipped entries of the root are not', () => {
  using dir = tempDir()
  const odd = Buffer.concat([Buffer.from(`${dir.path}/odd`), Buffer.from([0xff])])
  mkdirSync(odd, { mode: 0o100 })
  mkdirSync(join(dir.path, 'left'), { mode: 0o500 })
  expect(openUp(dir.path, ['left'])).toEqual({ closed: [], removed: [], gits: [] })
  expect(statSync(odd).mode & 0o777).toBe(0o700)
  expect(modeOf(join(dir.path, 'left'))).toBe(0o500)
})
