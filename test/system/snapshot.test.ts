import { expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { diffTrees } from '../../src/system/diff.ts'
import { gitText } from '../../src/system/git.ts'
import { snapshot } from '../../src/system/snapshot.ts'
import { takeFiles } from '../../src/system/take-files.ts'
import { restoreWorktree } from '../../src/system/worktree.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { addLoop, hostileAttributes, makeCanary, makeLoop, plant, repositoryOf } from './fixtures.ts'

test('the picture of a clean worktree is the tree of its commit', async () => {
  using dir = tempDir()
  const files = {
    'a.txt': 'a\n',
    'bin/run': '#!/bin/sh\n',
    'sub/b.txt': 'b\n',
    '.gitattributes': '* text=auto\n',
  }
  const { repo, worktree, base, root } = await makeLoop(join(dir.path, 'r'), files)
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.tree).toBe(git(root, 'rev-parse', `${base}^{tree}`))
  expect(now.ignoredProtected).toEqual([])
  expect(now.tainted).toEqual([])
})

test('tracked files that a .gitignore names, and empty submodules, are still there', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'), { '.gitignore': 'dist/\n*.log\n', 'a.txt': 'a\n' })
  writeFiles(root, { 'dist/out.js': 'x\n', 'keep.log': 'l\n' })
  const link = git(root, 'rev-parse', 'HEAD')
  git(root, 'add', '-f', 'dist/out.js', 'keep.log')
  git(root, 'update-index', '--add', '--cacheinfo', `160000,${link},vendor/lib`)
  git(root, 'commit', '-qm', 'tracked but ignored')
  mkdirSync(join(root, 'vendor/lib'), { recursive: true })
  const tree = git(root, 'rev-parse', 'HEAD^{tree}')
  writeFiles(root, { 'dist/more.js': 'not tracked\n' })
  const repo = repositoryOf(root)
  await using now = await snapshot({ repo, worktree: root, persist: false })
  expect(now.tree).toBe(tree)
  rmSync(join(root, 'dist/out.js'))
  await using later = await snapshot({ repo, worktree: root, persist: false })
  const changes = await diffTrees(later.place, tree, later.tree)
  expect(changes.map((change) => change.name)).toEqual(['dist/out.js'])
})

test('objects are kept only when asked for, and the private folder goes', async () => {
  using dir = tempDir()
  const { repo, worktree, root } = await makeLoop(join(dir.path, 'r'))
  writeFiles(worktree, { 'new.txt': 'new\n' })
  let place = ''
  let tree = ''
  {
    await using now = await snapshot({ repo, worktree, persist: false })
    place = now.place.gitDir
    tree = now.tree
    expect(exists(root, tree)).toBe(false)
    expect(await gitText(now.place, ['cat-file', '-t', tree])).toBe('tree')
    expect(statSync(place).mode & 0o777).toBe(0o700)
  }
  expect(existsSync(place)).toBe(false)
  await using kept = await snapshot({ repo, worktree, persist: true })
  expect(kept.tree).toBe(tree)
  expect(exists(root, tree)).toBe(true)
})

function exists(root: string, id: string): boolean {
  try {
    git(root, 'cat-file', '-e', id)
    return true
  } catch {
    return false
  }
}

test('the run folder is left out, also when a session committed it', async () => {
  using dir = tempDir()
  const { repo, worktree, base, root } = await makeLoop(join(dir.path, 'r'))
  writeFiles(worktree, { '.automaton-run/artifact.md': 'text\n' })
  git(worktree, 'add', '-f', '.automaton-run/artifact.md')
  await using staged = await snapshot({ repo, worktree, persist: false })
  expect(staged.tree).toBe(git(root, 'rev-parse', `${base}^{tree}`))
  git(worktree, 'commit', '-qm', 'oops')
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.tree).toBe(git(root, 'rev-parse', `${base}^{tree}`))
  expect(now.ignoredProtected).toEqual([])
})

test("in the person's checkout the loops are left out", async () => {
  using dir = tempDir()
  const { repo, root } = await makeLoop(join(dir.path, 'r'))
  writeFiles(root, { '.automaton/loops/nightly/.state.loop': '{}', '.automaton/tasks/x/TASK.md': 'task\n' })
  await using now = await snapshot({ repo, worktree: root, persist: false })
  const names = await gitText(now.place, ['ls-tree', '-r', '--name-only', now.tree])
  expect(names.split('\n')).toEqual(['.automaton/tasks/x/TASK.md', 'README.md'])
})

test('ignored files with a protected name at the root are reported, others and deep ones are not', async () => {
  using dir = tempDir()
  const ignore = '.env*\n.claude/\nnode_modules/\nlocal.txt\n.automaton/\n'
  const { repo, worktree } = await makeLoop(join(dir.path, 'r'), { '.gitignore': ignore, 'a.txt': 'a\n' })
  writeFiles(worktree, {
    '.env': 'x',
    '.claude/settings.json': '{}',
    'node_modules/m/.env': 'x',
    'sub/.env': 'x',
    'local.txt': 'x',
    '.automaton/loops/nightly/loop.json': '{}',
  })
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.ignoredProtected).toEqual(['.automaton', '.claude', '.env'])
})

test('a tracked file with a protected name is no ignored one, whatever .gitignore says', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'), { '.gitignore': '.env*\n.claude/\n' })
  writeFiles(root, { '.env.example': 'x\n', '.claude/settings.json': '{}\n' })
  git(root, 'add', '-f', '.env.example', '.claude/settings.json')
  git(root, 'commit', '-qm', 'tracked')
  const { repo, worktree } = await addLoop(root)
  await using clean = await snapshot({ repo, worktree, persist: false })
  expect(clean.ignoredProtected).toEqual([])
  writeFiles(worktree, { '.claude/new.json': '{}\n' })
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.ignoredProtected).toEqual(['.claude/new.json'])
})

test('line ends that attributes would turn are no change as long as nobody touched the file', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'), { 'dos.txt': 'a\r\nb\r\n', 'unix.txt': 'a\n' })
  writeFiles(root, { '.gitattributes': '*.txt text\nunix.txt eol=crlf\n' })
  git(root, 'add', '.gitattributes')
  git(root, 'commit', '-qm', 'attributes')
  const tree = git(root, 'rev-parse', 'HEAD^{tree}')
  const { repo, worktree } = await addLoop(root)
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.tree).toBe(tree)
  writeFiles(worktree, { 'dos.txt': 'a\r\nc\r\n' })
  await using later = await snapshot({ repo, worktree, persist: false })
  expect((await diffTrees(later.place, tree, later.tree)).map((change) => change.name)).toEqual(['dos.txt'])
})

test('names that git refuses are reported', async () => {
  using dir = tempDir()
  const { repo, worktree } = await makeLoop(join(dir.path, 'r'))
  writeFiles(worktree, { 'sub/.GIT/config': 'x', 'git~1': 'x', 'fine.txt': 'x' })
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(now.tainted).toEqual(['git~1', 'sub/.GIT/config'])
})

test('a folder replaced by a link is a link, and what lies behind it is not read', async () => {
  using dir = tempDir()
  const { repo, worktree } = await makeLoop(join(dir.path, 'r'), { 'src/a.txt': 'a\n', 'b.txt': 'b\n' })
  writeFiles(dir.path, { 'outside/a.txt': 'a\n' })
  rmSync(join(worktree, 'src'), { recursive: true })
  symlinkSync(join(dir.path, 'outside'), join(worktree, 'src'))
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(await gitText(now.place, ['ls-tree', '-r', now.tree])).toMatch(/120000 blob \w+\tsrc$/)
})

test('files and folders that changed places, and special files, do not stop it', async () => {
  using dir = tempDir()
  const { repo, worktree } = await makeLoop(join(dir.path, 'r'), { 'a/x.txt': 'x\n', b: 'b\n', c: 'c\n' })
  rmSync(join(worktree, 'a'), { recursive: true })
  rmSync(join(worktree, 'b'))
  rmSync(join(worktree, 'c'))
  writeFiles(worktree, { a: 'file\n', 'b/y.txt': 'y\n' })
  Bun.spawnSync(['mkfifo', join(worktree, 'c')])
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(await gitText(now.place, ['ls-tree', '-r', '--name-only', now.tree])).toBe('a\nb/y.txt')
})

test('a file that is not in the encoding that is claimed for it is taken as it is, and the others as ever', async () => {
  using dir = tempDir()
  const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
  const root = makeRepo(join(dir.path, 'r'), { '.gitattributes': 'good.txt working-tree-encoding=UTF-16\n' })
  writeFileSync(join(root, 'good.txt'), utf16('good\n'))
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'encoded')
  const { repo, worktree, base } = await addLoop(root)
  await using clean = await snapshot({ repo, worktree, persist: false })
  expect(clean.tree).toBe(git(root, 'rev-parse', `${base}^{tree}`))
  writeFileSync(join(worktree, 'good.txt'), utf16('good\n'))
  const claims = ['x.txt', 'y.txt', 'z.txt'].map((name) => `${name} working-tree-encoding=UTF-16\n`)
  writeFiles(worktree, { 'src/.gitattributes': `${claims.join('')}n.txt working-tree-encoding=nonsense\n` })
  writeFiles(worktree, { 'src/x.txt': 'no mark\n', 'src/y.txt': 'no mark\n', 'src/n.txt': 'n\n' })
  writeFileSync(join(worktree, 'src', 'z.txt'), utf16('z\n'))
  await using now = await snapshot({ repo, worktree, persist: false })
  const changes = await diffTrees(now.place, base, now.tree)
  expect(changes.map(({ name }) => name)).toEqual(
    ['.gitattributes', 'n.txt', 'x.txt', 'y.txt', 'z.txt'].map((name) => `src/${name}`),
  )
  const held = (name: string) => gitText(now.place, ['cat-file', 'blob', `${now.tree}:src/${name}`])
  expect(await held('x.txt')).toBe('no mark')
  expect(await held('z.txt')).toBe('z')
  await restoreWorktree({ repo, worktree, commit: base, branch: 'automaton/nightly' })
  expect(existsSync(join(worktree, 'src'))).toBe(false)
  await using back = await snapshot({ repo, worktree, persist: false })
  expect(back.tree).toBe(clean.tree)
})

test('a file that lost the encoding of its commit is a change, and is put back in that encoding', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'), { '.gitattributes': '*.txt working-tree-encoding=UTF-16\n' })
  writeFileSync(join(root, 'a.txt'), Buffer.from('\ufeffa\n', 'utf16le'))
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'encoded')
  const { repo, worktree, base } = await addLoop(root)
  const before = readFileSync(join(worktree, 'a.txt'))
  writeFileSync(join(worktree, 'a.txt'), 'plain\n')
  await using now = await snapshot({ repo, worktree, persist: false })
  expect((await diffTrees(now.place, base, now.tree)).map(({ name }) => name)).toEqual(['a.txt'])
  await restoreWorktree({ repo, worktree, commit: base, branch: 'automaton/nightly' })
  expect(readFileSync(join(worktree, 'a.txt'))).toEqual(before)
})

test('what git cannot take in for another reason is an error, not a missing file', async () => {
  using dir = tempDir()
  const { repo, worktree } = await makeLoop(join(dir.path, 'r'))
  await using now = await snapshot({ repo, worktree, persist: false })
  writeFiles(worktree, { 'x.txt': 'x\n' })
  const place = { ...now.place, index: join(dir.path, 'nowhere', 'index') }
  await expect(takeFiles(place, new Set(['x.txt']))).rejects.toThrow(/git failed .*update-index/)
})

test('a repository with sha256, and one whose path needs quoting, work too', async () => {
  using dir = tempDir()
  const root = join(dir.path, `a "b" $c 'd':e\\f`)
  const { repo, worktree } = await makeLoop(root)
  writeFiles(worktree, { 'x.txt': 'x\n' })
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(await gitText(now.place, ['ls-tree', '-r', '--name-only', now.tree])).toBe('README.md\nx.txt')
  const wide = join(dir.path, 'wide')
  mkdirSync(wide)
  git(wide, 'init', '-q', '-b', 'main', '--object-format=sha256')
  writeFiles(wide, { 'a.txt': 'a\n' })
  git(wide, 'add', '-A')
  git(wide, 'commit', '-qm', 'first')
  git(wide, 'init', '-q', 'nested')
  await using big = await snapshot({ repo: repositoryOf(wide), worktree: wide, persist: false })
  expect(big.tree).toMatch(/^[0-9a-f]{64}$/)
})

test('nothing that a session planted runs, also in a repository inside the worktree', async () => {
  using dir = tempDir()
  const canary = makeCanary(join(dir.path, 'canary'))
  const files = { '.gitattributes': hostileAttributes, 'a.txt': 'a\n', 'lib/c.txt': 'c\n' }
  const { repo, root, worktree } = await makeLoop(join(dir.path, 'r'), files)
  const nested = makeRepo(join(worktree, 'nested'), { '.gitattributes': hostileAttributes, 'b.txt': 'b\n' })
  // A submodule that somebody filled: git would look into it with its own configuration.
  git(worktree, 'add', 'nested')
  git(worktree, 'commit', '-qm', 'a link')
  plant(nested, canary)
  plant(root, canary)
  writeFileSync(join(nested, 'b.txt'), 'changed\n')
  writeFileSync(join(worktree, 'a.txt'), 'changed\n')
  chmodSync(join(worktree, 'lib/c.txt'), 0o755)
  await using now = await snapshot({ repo, worktree, persist: true })
  await using primary = await snapshot({ repo, worktree: root, persist: true })
  expect(primary.tree).not.toBe(now.tree)
  expect(canary.marks()).toBe('')
})
