import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { park } from '../../src/runner/park.ts'
import { driftOf } from '../../src/system/drift.ts'
import { restoreWorktree } from '../../src/system/worktree.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { addLoop, hostileAttributes, type LoopFixture, makeCanary, plant } from './fixtures.ts'

const at = '2026-01-02T03:04:05.000Z'
const ref = 'refs/automaton/kept/nightly/one'

/** A loop whose worktree has a filled submodule `sub`. */
async function withSubmodule(dir: string) {
  const root = makeRepo(join(dir, 'r'))
  const source = makeRepo(join(dir, 'source'), { '.gitattributes': hostileAttributes, 'a.txt': 'a\n' })
  git(root, 'clone', '-q', source, 'sub')
  git(root, 'add', 'sub')
  git(root, 'commit', '-qm', 'submodule')
  const loop = await addLoop(root)
  git(loop.worktree, 'clone', '-q', source, 'sub')
  return { ...loop, sub: join(loop.worktree, 'sub') }
}

const parked = ({ repo, worktree, base }: LoopFixture) =>
  park({ repo, worktree, back: base, ref, at, why: 'm\n' })

async function outNow({ repo, worktree, base }: LoopFixture) {
  await using drift = await driftOf({ repo, worktree, base, fileScope: [] })
  return drift.outOfScope
}

describe('park', () => {
  test('moves a nested repository aside with everything in it', async () => {
    using dir = tempDir()
    const loop = await addLoop(makeRepo(join(dir.path, 'r')))
    const inner = makeRepo(join(loop.worktree, 'deep/inner'), { 'f.txt': 'work\n' })
    writeFiles(inner, { 'loose.txt': 'loose\n' })
    const tip = git(inner, 'rev-parse', 'HEAD')
    const folder = join(dirname(loop.worktree), 'kept/one')
    expect(await parked(loop)).toEqual({ ref, folder })
    expect(existsSync(join(loop.worktree, 'deep'))).toBe(false)
    expect(readFileSync(join(folder, 'deep/inner/loose.txt'), 'utf8')).toBe('loose\n')
    expect(git(join(folder, 'deep/inner'), 'rev-parse', 'HEAD')).toBe(tip)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(await outNow(loop)).toEqual([])
  })

  test('leaves a repository in an ignored folder where it is, and runs nothing of it', async () => {
    using dir = tempDir()
    const canary = makeCanary(join(dir.path, 'canary'))
    const loop = await addLoop(makeRepo(join(dir.path, 'r'), { '.gitignore': 'modules/\n' }))
    const inner = makeRepo(join(loop.worktree, 'modules/inner'), {
      'f.txt': 'work\n',
      '.gitattributes': hostileAttributes,
    })
    plant(inner, canary)
    expect(await outNow(loop)).toEqual([])
    expect(await parked(loop)).toEqual({ ref: null, folder: null })
    expect(readFileSync(join(inner, 'f.txt'), 'utf8')).toBe('work\n')
    expect(canary.marks()).toBe('')
  })

  test('moves an ignored folder with a repository in it aside where a file goes back', async () => {
    using dir = tempDir()
    const loop = await addLoop(makeRepo(join(dir.path, 'r'), { build: 'a file\n', '.gitignore': 'build/\n' }))
    rmSync(join(loop.worktree, 'build'))
    makeRepo(join(loop.worktree, 'build/deep'), { 'f.txt': 'work\n' })
    const { folder } = await parked(loop)
    expect(readFileSync(join(loop.worktree, 'build'), 'utf8')).toBe('a file\n')
    expect(readFileSync(join(folder ?? '', 'build/deep/f.txt'), 'utf8')).toBe('work\n')
  })

  test('moves a changed submodule aside and leaves an empty folder', async () => {
    using dir = tempDir()
    const loop = await withSubmodule(dir.path)
    writeFiles(loop.sub, { 'a.txt': 'changed\n' })
    const { folder } = await parked(loop)
    expect(readFileSync(join(folder ?? '', 'sub/a.txt'), 'utf8')).toBe('changed\n')
    expect(readdirSync(loop.sub)).toEqual([])
    expect(await outNow(loop)).toEqual([])
  })

  test('leaves a submodule at its commit where it is', async () => {
    using dir = tempDir()
    const loop = await withSubmodule(dir.path)
    expect(await parked(loop)).toEqual({ ref: null, folder: null })
    expect(existsSync(join(loop.sub, 'a.txt'))).toBe(true)
  })
})

test('a worktree that is put back without more loses no repository, however often', async () => {
  using dir = tempDir()
  const { repo, worktree, base } = await addLoop(makeRepo(join(dir.path, 'r')))
  for (const text of ['1', '2']) {
    writeFiles(makeRepo(join(worktree, 'inner')), { x: text })
    await restoreWorktree({ repo, worktree, commit: base })
    expect(existsSync(join(worktree, 'inner'))).toBe(false)
  }
  const kept = join(dirname(worktree), 'kept/put-back')
  expect(['inner', 'inner-2'].map((name) => readFileSync(join(kept, name, 'x'), 'utf8'))).toEqual(['1', '2'])
})

describe('a filled submodule is drift', () => {
  const cases: [name: string, act: (sub: string) => void, expected: string[]][] = [
    ['not at its commit', () => {}, []],
    ['with a changed file', (sub) => writeFileSync(join(sub, 'a.txt'), 'b\n'), ['sub']],
    ['with a new file', (sub) => writeFiles(sub, { 'new.txt': 'x' }), ['sub']],
    ['with a file that info/exclude hides', hide, ['sub']],
    [
      'with files where automaton keeps its own',
      (sub) => writeFiles(sub, { '.automaton/loops/x': 'x' }),
      ['sub'],
    ],
    ['with a run folder', (sub) => writeFiles(sub, { '.automaton-run/x': 'x' }), ['sub']],
    ['with another commit', (sub) => void git(sub, 'commit', '-q', '--allow-empty', '-m', 'x'), ['sub']],
    ['with a repository in it', (sub) => void makeRepo(join(sub, 'inner')), ['sub']],
  ]
  for (const [name, act, expected] of cases) {
    test(name, async () => {
      using dir = tempDir()
      const loop = await withSubmodule(dir.path)
      act(loop.sub)
      expect(await outNow(loop)).toEqual(expected)
    })
  }

  test('and nothing that its settings name runs while it is looked at', async () => {
    using dir = tempDir()
    const canary = makeCanary(join(dir.path, 'canary'))
    const loop = await withSubmodule(dir.path)
    writeFiles(loop.sub, { 'a.txt': 'changed\n' })
    plant(loop.sub, canary)
    expect(await outNow(loop)).toEqual(['sub'])
    await parked(loop)
    expect(canary.marks()).toBe('')
  })

  function hide(sub: string) {
    writeFiles(sub, { '.git/info/exclude': 'new.txt\n', 'new.txt': 'x' })
  }
})
