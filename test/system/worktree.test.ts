import { describe, expect, test } from 'bun:test'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { AutomatonError } from '../../src/errors.ts'
import { snapshot } from '../../src/system/snapshot.ts'
import {
  commitWorktree,
  ensureWorktree,
  headOf,
  isMerged,
  keep,
  restoreWorktree,
} from '../../src/system/worktree.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import {
  addLoop,
  branch,
  hostileAttributes,
  type LoopFixture,
  makeCanary,
  makeLoop,
  plant,
  repositoryOf,
} from './fixtures.ts'

const at = '2026-03-04T05:06:07.890Z'

const again = ({ repo, worktree, base }: LoopFixture) =>
  ensureWorktree({ repo, path: worktree, branch, base })

async function fixOf(call: Promise<unknown>): Promise<string> {
  const error = await call.catch((reason) => reason)
  if (!(error instanceof AutomatonError)) throw new Error(`not refused: ${String(error)}`)
  return `${error.message} | ${error.fix}`
}

/** Commits what lies in the worktree, as a tick does. */
async function commitAll(
  { repo, worktree }: LoopFixture,
  message = 'automaton(nightly): work\n',
): Promise<string> {
  await using now = await snapshot({ repo, worktree, persist: true })
  const parent = headOf(repo, worktree).commit ?? ''
  return commitWorktree({ repo, worktree, tree: now.tree, branch, parent, message, at })
}

describe('ensureWorktree', () => {
  test('makes a clean worktree on a new branch, once, and leaves the configuration as it is', async () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, `it's a "$repo"`), {
      'a.txt': 'a\n',
      'bin/x': '#!/bin/sh\n',
      'é.txt': 'e\n',
    })
    const config = readFileSync(join(root, '.git/config'), 'utf8')
    const loop = await addLoop(root)
    expect(git(loop.worktree, 'status', '--porcelain', '--ignored')).toBe('')
    expect(git(loop.worktree, 'branch', '--show-current')).toBe(branch)
    expect(lstatSync(join(loop.worktree, 'bin/x')).mode & 0o111).toBeGreaterThan(0)
    expect(await again(loop)).toBe('reused')
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe(config)
    expect(headOf(loop.repo, loop.worktree)).toMatchObject({ branch, commit: loop.base })
  })

  test('works when the project lies in a linked worktree', async () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'))
    git(root, 'worktree', 'add', '-q', '-b', 'side', join(dir.path, 'side'))
    const loop = await addLoop(join(dir.path, 'side'))
    expect(await again(loop)).toBe('reused')
    expect(git(loop.worktree, 'status', '--porcelain')).toBe('')
    expect(headOf(loop.repo, loop.root).branch).toBe('side')
  })

  test('makes a worktree again whose folder was deleted, with the branch as it was', async () => {
    using dir = tempDir()
    const loop = await makeLoop(join(dir.path, 'r'))
    writeFiles(loop.worktree, { 'b.txt': 'b\n' })
    const tip = await commitAll(loop)
    rmSync(loop.worktree, { recursive: true })
    expect(await again(loop)).toBe('created')
    expect(headOf(loop.repo, loop.worktree)).toMatchObject({ branch, commit: tip })
    expect(existsSync(join(loop.worktree, 'b.txt'))).toBe(true)
  })

  test('finishes one that a killed process left half-made', async () => {
    using dir = tempDir()
    const loop = await makeLoop(join(dir.path, 'r'), { 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const admin = join(loop.root, '.git/worktrees/worktree')
    rmSync(join(admin, 'index'))
    rmSync(join(loop.worktree, 'b.txt'))
    expect(await again(loop)).toBe('reused')
    expect(git(loop.worktree, 'status', '--porcelain')).toBe('')
    writeFileSync(join(admin, 'locked'), 'initializing\n')
    rmSync(join(loop.worktree), { recursive: true })
    writeFiles(loop.worktree, { '.git': `gitdir: ${admin}\n` })
    expect(await again(loop)).toBe('created')
    expect(git(loop.worktree, 'status', '--porcelain')).toBe('')
  })

  test('takes a branch that is there, and says who has it when it is in use', async () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'))
    git(root, 'switch', '-qc', branch)
    const blocked = await fixOf(addLoop(root))
    expect(blocked).toBe(
      `branch cannot be used (${branch}): it is checked out in ${root} | git -C ${root} switch --detach`,
    )
    git(root, 'commit', '-q', '--allow-empty', '-m', 'more')
    const tip = git(root, 'rev-parse', 'HEAD')
    git(root, 'switch', '-q', 'main')
    const loop = await addLoop(root)
    expect(headOf(loop.repo, loop.worktree)).toMatchObject({ branch, commit: tip })
  })

  test('says that a branch named automaton is in the way', async () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'))
    git(root, 'branch', 'automaton')
    expect(await fixOf(addLoop(root))).toContain(
      'a branch named automaton is in its way | git branch -m automaton',
    )
  })

  test.each<[string, (loop: LoopFixture) => void, string]>([
    ['locked', (loop) => git(loop.root, 'worktree', 'lock', loop.worktree), 'worktree unlock'],
    [
      'locked and gone',
      (loop) => {
        git(loop.root, 'worktree', 'lock', '--reason', 'on a stick', loop.worktree)
        rmSync(loop.worktree, { recursive: true })
      },
      'worktree unlock',
    ],
    [
      'a link',
      (loop) => {
        renameSync(loop.worktree, `${loop.worktree}2`)
        symlinkSync(`${loop.worktree}2`, loop.worktree)
      },
      'it is a symbolic link | mv',
    ],
    [
      'another repository',
      (loop) => {
        rmSync(loop.worktree, { recursive: true })
        makeRepo(loop.worktree)
      },
      'its .git does not lead to this repository | mv',
    ],
    ['on another branch', (loop) => git(loop.worktree, 'switch', '-qc', 'other'), `switch ${branch}`],
    ['detached', (loop) => git(loop.worktree, 'switch', '-q', '--detach'), 'it is on no branch'],
    [
      'a folder that the repository does not know',
      (loop) => {
        git(loop.root, 'worktree', 'remove', loop.worktree)
        writeFiles(loop.worktree, { 'x.txt': 'x\n' })
      },
      'it is not a worktree of this repository | mv',
    ],
  ])('refuses one that is %s, and says how to put it right', async (_, spoil, text) => {
    using dir = tempDir()
    const loop = await makeLoop(join(dir.path, 'r'))
    spoil(loop)
    const said = await fixOf(again(loop))
    expect(said).toStartWith(`worktree cannot be used (${loop.worktree})`)
    expect(said).toContain(text)
  })

  test("removes a dead git's index lock in its own worktree, but not while a git works there", async () => {
    using dir = tempDir()
    const loop = await makeLoop(join(dir.path, 'r'))
    const lock = join(loop.root, '.git/worktrees/worktree/index.lock')
    writeFileSync(lock, '')
    const child = Bun.spawn(['git', 'cat-file', '--batch'], {
      cwd: loop.worktree,
      stdin: 'pipe',
      stdout: 'pipe',
    })
    child.stdin.write('HEAD\n')
    await child.stdin.flush()
    await child.stdout.getReader().read()
    expect(await fixOf(again(loop))).toBe(
      `git is locked (${lock}): a git process may be running | if no git process runs: rm ${lock}`,
    )
    child.kill('SIGKILL')
    await child.exited
    expect(await again(loop)).toBe('reused')
    expect(existsSync(lock)).toBe(false)
  })
})

describe('commitWorktree', () => {
  test('commits the tree as automaton and leaves a clean worktree', async () => {
    using dir = tempDir()
    const loop = await makeLoop(join(dir.path, 'r'))
    writeFiles(loop.worktree, { 'new.txt': 'n\n' })
    const commit = await commitAll(loop, 'title\n\nAutomaton-Loop: nightly\n')
    expect(
      git(
        loop.worktree,
        'log',
        '-1',
        '--format=%H %an %ae %cn %at %P %s %(trailers:key=Automaton-Loop,valueonly)',
      ),
    ).toBe(`${commit} Automaton automaton@localhost Automaton 1772600767 ${loop.base} title nightly`)
    expect(git(loop.worktree, 'status', '--porcelain')).toBe('')
    expect(git(loop.root, 'rev-parse', 'main')).toBe(loop.base)
  })

  test('moves the branch only from the commit that it was told', async () => {
    using dir = tempDir()
    const loop = await makeLoop(join(dir.path, 'r'))
    const { repo, worktree, base } = loop
    git(worktree, 'commit', '-q', '--allow-empty', '-m', 'session')
    const tip = git(worktree, 'rev-parse', 'HEAD')
    const tree = git(worktree, 'rev-parse', 'HEAD^{tree}')
    const options = { repo, worktree, tree, parent: base, message: 'm\n', at }
    await expect(commitWorktree({ ...options, branch })).rejects.toThrow('git failed')
    expect(git(worktree, 'rev-parse', branch)).toBe(tip)
    const loose = await commitWorktree({ ...options, branch: null })
    expect(git(worktree, 'rev-parse', branch)).toBe(tip)
    await keep({ repo, ref: 'refs/automaton/kept/nightly/1', commit: loose })
    expect(git(loop.root, 'rev-parse', 'refs/automaton/kept/nightly/1')).toBe(loose)
  })
})

describe('restoreWorktree', () => {
  test('puts back branch, HEAD, index and files, and leaves ignored files', async () => {
    using dir = tempDir()
    const files = { '.gitignore': 'build/\n.env\n', 'a/b.txt': 'b\n', 'c.txt': 'c\n', 'd.txt': 'd\n' }
    const loop = await makeLoop(join(dir.path, 'r'), files)
    const { repo, root, worktree, base } = loop
    writeFiles(worktree, { 'build/out': 'o\n', '.env': 'x\n', 'new/x.txt': 'x\n', 'c.txt': 'changed\n' })
    writeFiles(worktree, { 'sub/.GIT/config': 'x', '.automaton-run/artifact.md': 'a\n' })
    rmSync(join(worktree, 'a'), { recursive: true })
    symlinkSync(dir.path, join(worktree, 'a'))
    makeRepo(join(worktree, 'nested'))
    git(worktree, 'commit', '-q', '--allow-empty', '-m', 'session')
    git(worktree, 'update-index', '--skip-worktree', 'd.txt')
    writeFileSync(join(worktree, 'd.txt'), 'hidden\n')
    git(worktree, 'checkout', '-q', '--ignore-other-worktrees', 'main')
    writeFileSync(join(root, '.git/worktrees/worktree/MERGE_HEAD'), `${base}\n`)
    await restoreWorktree({ repo, worktree, commit: base })
    expect(headOf(repo, worktree)).toMatchObject({ branch, commit: base })
    expect(git(worktree, 'status', '--porcelain')).toBe('?? .automaton-run/')
    expect(git(worktree, 'ls-files', '-v')).not.toMatch(/^[Sa-z]/m)
    const left = ['build/out', '.env', 'new', 'nested', 'sub', 'a/b.txt'].map((name) =>
      existsSync(join(worktree, name)),
    )
    expect(left).toEqual([true, false, false, false, false, true])
    expect(lstatSync(join(worktree, 'a')).isSymbolicLink()).toBe(false)
    expect(readFileSync(join(worktree, 'd.txt'), 'utf8')).toBe('d\n')
    expect(existsSync(join(dir.path, 'b.txt'))).toBe(false)
  })

  test('brings a worktree back whose own git files were rewritten', async () => {
    using dir = tempDir()
    const { repo, root, worktree, base } = await makeLoop(join(dir.path, 'r'))
    const admin = join(root, '.git/worktrees/worktree')
    writeFileSync(join(worktree, '.git'), 'gitdir: /elsewhere\n')
    writeFileSync(join(admin, 'HEAD'), 'nonsense\n')
    writeFileSync(join(admin, 'commondir'), '/elsewhere\n')
    await restoreWorktree({ repo, worktree, commit: base })
    expect(git(worktree, 'status', '--porcelain', '--branch')).toBe(`## ${branch}`)
  })

  test("never touches the person's checkout", async () => {
    using dir = tempDir()
    const { repo, root, base } = await makeLoop(join(dir.path, 'r'))
    writeFiles(root, { 'mine.txt': 'm\n' })
    await expect(restoreWorktree({ repo, worktree: root, commit: base })).rejects.toThrow(
      "the person's own checkout",
    )
    expect(existsSync(join(root, 'mine.txt'))).toBe(true)
  })
})

describe('isMerged', () => {
  const setUp = async (dir: string) => {
    const loop = await makeLoop(join(dir, 'r'), { 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n' })
    writeFiles(loop.worktree, { 'a.txt': '1\n2\n3\n4\nfive\n' })
    await commitAll(loop)
    writeFiles(loop.worktree, { 'new.txt': 'n\n' })
    return { ...loop, tip: await commitAll(loop) }
  }
  const asked = ({ repo, root, base, tip }: LoopFixture & { tip: string }) =>
    isMerged({ repo, base: git(root, 'rev-parse', 'main'), tip, mergeBase: base })
  const person = (root: string, files: Record<string, string>) => {
    writeFiles(root, files)
    git(root, 'add', 'a.txt', 'b.txt', 'new.txt', 'other.txt')
    git(root, 'commit', '-qm', 'person')
  }

  test('no for work that the base lacks, wholly or in part', async () => {
    using dir = tempDir()
    const loop = await setUp(dir.path)
    expect(await asked(loop)).toBe(false)
    git(loop.root, 'cherry-pick', `${branch}~1`)
    expect(await asked(loop)).toBe(false)
  })

  test('yes for a fresh branch, after a merge, and after work that was undone again', async () => {
    using dir = tempDir()
    const loop = await setUp(dir.path)
    expect(await asked({ ...loop, tip: loop.base })).toBe(true)
    git(loop.root, 'merge', '-q', '--no-ff', '-m', 'merge', branch)
    expect(await asked(loop)).toBe(true)
  })

  test('yes after a squash, also when the base went on', async () => {
    using dir = tempDir()
    const loop = await setUp(dir.path)
    writeFiles(loop.root, { 'b.txt': 'earlier\n', 'other.txt': 'o\n' })
    git(loop.root, 'add', 'b.txt', 'other.txt')
    git(loop.root, 'commit', '-qm', 'earlier')
    git(loop.root, 'merge', '-q', '--squash', branch)
    git(loop.root, 'commit', '-qm', 'squashed')
    expect(await asked(loop)).toBe(true)
    person(loop.root, { 'a.txt': 'one\n2\n3\n4\nfive\n', 'b.txt': 'later\n' })
    expect(await asked(loop)).toBe(true)
  })

  test('yes for the same contents without a common history', async () => {
    using dir = tempDir()
    const loop = await setUp(dir.path)
    git(loop.root, 'checkout', '-q', '--orphan', 'fresh')
    writeFiles(loop.root, { 'other.txt': 'o\n' })
    person(loop.root, { 'a.txt': '1\n2\n3\n4\nfive\n', 'new.txt': 'n\n' })
    git(loop.root, 'branch', '-f', 'main', 'fresh')
    expect(await asked(loop)).toBe(true)
  })

  test('an unreadable commit is an error', async () => {
    using dir = tempDir()
    const loop = await setUp(dir.path)
    await expect(asked({ ...loop, tip: 'e'.repeat(40) })).rejects.toThrow('git failed')
  })
})

test('nothing that a session planted runs while worktrees are made, committed, put back and compared', async () => {
  using dir = tempDir()
  const canary = makeCanary(join(dir.path, 'canary'))
  const root = makeRepo(join(dir.path, 'r'), {
    '.gitattributes': hostileAttributes,
    'a.txt': 'a\n',
    'b.txt': 'b\n',
  })
  const base = git(root, 'rev-parse', 'HEAD')
  writeFiles(root, { 'a.txt': 'person\n' })
  git(root, 'commit', '-qam', 'person')
  const main = git(root, 'rev-parse', 'HEAD')
  plant(root, canary)
  const repo = repositoryOf(root)
  const worktree = join(root, '.automaton/loops/nightly/worktree')
  expect(await ensureWorktree({ repo, path: worktree, branch, base })).toBe('created')
  const nested = makeRepo(join(worktree, 'nested'), { '.gitattributes': hostileAttributes })
  plant(nested, canary)
  mkdirSync(join(worktree, 'c'))
  writeFiles(worktree, { 'a.txt': 'session\n', 'c/d.txt': 'd\n' })
  const tip = await commitAll({ repo, root, worktree, base })
  expect(await isMerged({ repo, base: main, tip, mergeBase: base })).toBe(false)
  await keep({ repo, ref: 'refs/automaton/kept/nightly/1', commit: tip })
  await restoreWorktree({ repo, worktree, commit: base })
  expect(await ensureWorktree({ repo, path: worktree, branch, base })).toBe('reused')
  expect(headOf(repo, worktree).commit).toBe(base)
  expect(canary.marks()).toBe('')
})
