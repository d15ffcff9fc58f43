import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errors } from '../../src/errors.ts'
import { gitBytes, gitText, requireGit, resolveCommit, git as run } from '../../src/system/git.ts'
import { nameBytes, showName } from '../../src/system/names.ts'
import { findRepository, quoteArgument, repositoryPlace } from '../../src/system/repository.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { hostileAttributes, makeCanary, plant, repositoryOf } from './fixtures.ts'

const path = process.env.PATH
const added = new Set<string>()

function setEnv(name: string, value: string): void {
  added.add(name)
  process.env[name] = value
}

afterEach(() => {
  for (const name of added) delete process.env[name]
  added.clear()
  process.env.PATH = path
})

describe('findRepository', () => {
  test('finds the toplevel, the git folder and the project below it', () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'), { 'packages/app/a.txt': 'a\n' })
    const gitDir = join(root, '.git')
    expect(findRepository(root)).toEqual({ toplevel: root, gitDir, commonDir: gitDir, prefix: '' })
    expect(findRepository(join(root, 'packages/app'))?.prefix).toBe('packages/app/')
    expect(findRepository(dir.path)).toBeNull()
  })

  test('knows the shared git folder when the checkout is itself a linked worktree', () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'))
    git(root, 'worktree', 'add', '-q', '-b', 'side', join(dir.path, 'side'))
    expect(findRepository(join(dir.path, 'side'))).toEqual({
      toplevel: join(dir.path, 'side'),
      gitDir: join(root, '.git/worktrees/side'),
      commonDir: join(root, '.git'),
      prefix: '',
    })
  })

  test('follows a symbolic link to the project, and finds the real place', () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'))
    symlinkSync(root, join(dir.path, 'link'))
    expect(findRepository(join(dir.path, 'link'))?.toplevel).toBe(root)
  })

  test('passes over an empty .git folder, finds nothing in a bare repository', () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'))
    mkdirSync(join(root, 'sub/.git'), { recursive: true })
    expect(findRepository(join(root, 'sub'))?.toplevel).toBe(root)
    git(dir.path, 'init', '-q', '--bare', 'bare')
    expect(findRepository(join(dir.path, 'bare'))).toBeNull()
  })

  test('says what is wrong with a .git file that leads nowhere, and with core.bare', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'lost/.git': 'gitdir: /no/such/place\n', 'odd/.git': 'hello\n' })
    expect(() => findRepository(join(dir.path, 'lost'))).toThrow(
      'it names /no/such/place, which is not a git folder',
    )
    expect(() => findRepository(join(dir.path, 'odd'))).toThrow('it names no git folder')
    const root = makeRepo(join(dir.path, 'r'))
    git(root, 'config', 'core.bare', 'true')
    expect(() => findRepository(root)).toThrow('core.bare is true')
  })
})

describe('the git runner', () => {
  test('works on the repository that it is told, whatever GIT_ variables are set', async () => {
    using dir = tempDir()
    const repo = repositoryOf(makeRepo(join(dir.path, 'r')))
    const other = makeRepo(join(dir.path, 'other'), { 'other.txt': 'o\n' })
    const head = git(repo.toplevel, 'rev-parse', 'HEAD')
    setEnv('GIT_DIR', join(other, '.git'))
    setEnv('GIT_WORK_TREE', other)
    setEnv('GIT_INDEX_FILE', join(other, '.git/index'))
    setEnv('GIT_CONFIG_COUNT', '1')
    setEnv('GIT_CONFIG_KEY_0', 'core.abbrev')
    setEnv('GIT_CONFIG_VALUE_0', 'nonsense')
    expect(await gitText(repositoryPlace(repo), ['rev-parse', 'HEAD'])).toBe(head)
    expect(await gitText(repositoryPlace(repo), ['ls-files'])).toBe('README.md')
  })

  test('reads the repository although its core.worktree leads elsewhere', async () => {
    using dir = tempDir()
    const repo = repositoryOf(makeRepo(join(dir.path, 'r')))
    git(repo.toplevel, 'config', 'core.worktree', '/no/such/place')
    expect(await resolveCommit(repo, 'refs/heads/main')).toMatch(/^[0-9a-f]{40}$/)
  })

  test('a status that is not 0 is an error with what git said, never an empty answer', async () => {
    using dir = tempDir()
    const repo = repositoryOf(makeRepo(join(dir.path, 'r')))
    const place = repositoryPlace(repo)
    expect((await run(place, ['cat-file', '-t', 'f'.repeat(40)])).code).toBe(128)
    await expect(gitBytes(place, ['cat-file', '-t', 'f'.repeat(40)])).rejects.toThrow(
      /git failed \(git cat-file -t f+\): fatal/,
    )
  })

  test('names the lock that is in the way', async () => {
    using dir = tempDir()
    const repo = repositoryOf(makeRepo(join(dir.path, "it's")))
    const lock = join(repo.gitDir, 'refs/heads/new.lock')
    writeFileSync(lock, '')
    const head = await resolveCommit(repo, 'HEAD')
    const call = gitText(repositoryPlace(repo), ['update-ref', 'refs/heads/new', head ?? ''])
    const error = await call.catch((reason) => reason)
    expect(error.code).toBe('git_locked')
    expect(error.message).toContain(lock)
    expect(error.fix).toContain(quoteArgument(lock))
  })

  test('output over the limit is an error, or cut when that is asked for', async () => {
    using dir = tempDir()
    const repo = repositoryOf(makeRepo(join(dir.path, 'r'), { 'big.txt': 'line\n'.repeat(50_000) }))
    const args = ['cat-file', 'blob', 'HEAD:big.txt']
    await expect(gitBytes(repositoryPlace(repo), args, { maxBytes: 1000 })).rejects.toThrow('over 1000 bytes')
    const cut = await gitBytes(repositoryPlace(repo), args, { maxBytes: 1000, cut: true })
    expect(cut.length).toBe(1000)
  })

  test('takes git only from absolute folders of PATH', async () => {
    using dir = tempDir()
    const repo = repositoryOf(makeRepo(join(dir.path, 'r')))
    writeFileSync(join(repo.toplevel, 'git'), '#!/bin/sh\necho planted\n')
    chmodSync(join(repo.toplevel, 'git'), 0o755)
    process.env.PATH = `.:${path}`
    expect(await gitText(repositoryPlace(repo), ['rev-parse', '--show-object-format'])).toBe('sha1')
    process.env.PATH = '.'
    await expect(gitText(repositoryPlace(repo), ['rev-parse', 'HEAD'])).rejects.toThrow('git not found')
  })

  test('says when git is too old', () => {
    using dir = tempDir()
    expect(requireGit()).toMatch(/^\d+\.\d+/)
    writeFileSync(join(dir.path, 'git'), '#!/bin/sh\necho git version 2.37.9\n')
    chmodSync(join(dir.path, 'git'), 0o755)
    process.env.PATH = dir.path
    expect(() => requireGit()).toThrow('git is too old (git 2.37.9): automaton needs 2.38 or newer')
  })

  test('a missing folder is not mistaken for a missing git', async () => {
    using dir = tempDir()
    await expect(gitText({ gitDir: join(dir.path, 'gone') }, ['version'])).rejects.toThrow(
      'folder is missing',
    )
  })
})

describe('resolveCommit', () => {
  test('runs nothing that the repository names, also for an object that is missing', async () => {
    using dir = tempDir()
    const canary = makeCanary(join(dir.path, 'canary'))
    const root = makeRepo(join(dir.path, 'r'), { '.gitattributes': hostileAttributes, 'a.txt': 'a\n' })
    plant(root, canary)
    const repo = repositoryOf(root)
    expect(await resolveCommit(repo, 'refs/heads/main')).toMatch(/^[0-9a-f]{40}$/)
    expect(await resolveCommit(repo, 'e'.repeat(40))).toBeNull()
    expect(canary.marks()).toBe('')
    // The traps do work: an ordinary git runs into them.
    expect(() => git(root, 'status')).toThrow()
    expect(canary.marks()).not.toBe('')
  })

  test('answers with an id, and with null for what is not there', async () => {
    using dir = tempDir()
    const repo = repositoryOf(makeRepo(join(dir.path, 'r')))
    const head = git(repo.toplevel, 'rev-parse', 'HEAD')
    expect(await resolveCommit(repo, 'refs/heads/main')).toBe(head)
    expect(await resolveCommit(repo, `${head}^{tree}`, 'tree')).toBe(
      git(repo.toplevel, 'rev-parse', 'HEAD^{tree}'),
    )
    expect(await resolveCommit(repo, 'refs/heads/none')).toBeNull()
    expect(await resolveCommit(repo, '--output=x')).toBeNull()
  })

  test('does not follow a replacement', async () => {
    using dir = tempDir()
    const repo = repositoryOf(makeRepo(join(dir.path, 'r')))
    const first = git(repo.toplevel, 'rev-parse', 'HEAD')
    const tree = git(repo.toplevel, 'rev-parse', 'HEAD^{tree}')
    writeFiles(repo.toplevel, { 'x.txt': 'x\n' })
    git(repo.toplevel, 'add', '-A')
    git(repo.toplevel, 'commit', '-qm', 'second')
    git(repo.toplevel, 'replace', '-f', first, 'HEAD')
    expect(await resolveCommit(repo, first, 'tree')).toBe(tree)
  })
})

test('a name is shown so that its bytes can be found again', () => {
  const names = ['src/é.txt', 'a b"c\n', 'back\\slash', '\\xff', '\\x5cx41', '🚀', '-x', '\ufeffa']
  const bytes = [
    ...names.map((name) => Buffer.from(name)),
    Buffer.from([0x61, 0xff, 0xfe, 0xc3, 0xa9, 0x5c, 0x78, 0x34, 0x31]),
  ]
  const shown = bytes.map((name) => showName(name.toString('latin1')))
  expect(shown.slice(0, 3)).toEqual(names.slice(0, 3))
  expect(shown.at(-1)).toBe('a\\xff\\xfeé\\x5cx41')
  expect(new Set(shown).size).toBe(bytes.length)
  expect(shown.map((name) => nameBytes(name).toString('hex'))).toEqual(
    bytes.map((name) => name.toString('hex')),
  )
})

test('the errors of this room say what, where, why and what to do', () => {
  const all = [
    errors.branchUnusable('automaton/x', 'it is checked out in /a', 'git -C /a switch --detach'),
    errors.gitLocked('/r/.git/index.lock', 'rm /r/.git/index.lock'),
    errors.gitTooOld('2.30.1', '2.38'),
    errors.repositoryBroken('/r/.git', 'it names no git folder', 'git -C /r status'),
    errors.worktreeUnusable('/w', 'somebody locked it', 'git worktree unlock /w'),
  ]
  expect(all.map((error) => `${error.code} ${error.exit}: ${error.message} | ${error.fix}`)).toEqual([
    'branch_unusable 5: branch cannot be used (automaton/x): it is checked out in /a | git -C /a switch --detach',
    'git_locked 5: git is locked (/r/.git/index.lock): a git process may be running | if no git process runs: rm /r/.git/index.lock',
    'git_too_old 5: git is too old (git 2.30.1): automaton needs 2.38 or newer | install git 2.38 or newer',
    'repository_broken 5: repository cannot be used (/r/.git): it names no git folder | git -C /r status',
    'worktree_unusable 5: worktree cannot be used (/w): somebody locked it | git worktree unlock /w',
  ])
})
