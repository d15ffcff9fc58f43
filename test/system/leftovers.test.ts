import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { privateGit, sweepPrivateGits } from '../../src/system/private.ts'
import { commitWorktree, ensureWorktree, keep, restoreWorktree } from '../../src/system/worktree.ts'
import { git } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { branch, type LoopFixture, makeLoop } from './fixtures.ts'

describe('what a killed git left locked', () => {
  const own = ['worktrees/worktree/HEAD.lock', `refs/heads/${branch}.lock`]
  const again = ({ repo, worktree, base }: LoopFixture) =>
    ensureWorktree({ repo, path: worktree, branch, base })

  for (const name of own) {
    test(`${basename(name)} of the loop's own goes when the worktree is used again, and when it is put back`, async () => {
      using dir = tempDir()
      const loop = await makeLoop(join(dir.path, 'r'))
      const lock = join(loop.root, '.git', name)
      for (const use of [again, restore]) {
        mkdirSync(dirname(lock), { recursive: true })
        writeFileSync(lock, '')
        await use(loop)
        expect(existsSync(lock)).toBe(false)
      }
    })
  }

  test('the ref that work is kept under can be written again', async () => {
    using dir = tempDir()
    const { root, repo, base } = await makeLoop(join(dir.path, 'r'))
    const ref = 'refs/automaton/recovered/one'
    mkdirSync(join(root, '.git/refs/automaton/recovered'), { recursive: true })
    writeFileSync(join(root, '.git', `${ref}.lock`), '')
    await keep({ repo, ref, commit: base })
    expect(git(root, 'rev-parse', ref)).toBe(base)
  })

  test('a commit gets past it', async () => {
    using dir = tempDir()
    const { root, repo, worktree, base } = await makeLoop(join(dir.path, 'r'))
    for (const name of own) writeFileSync(join(root, '.git', name), '')
    const tree = git(root, 'rev-parse', `${base}^{tree}`)
    const at = '2026-01-02T03:04:05.000Z'
    const commit = await commitWorktree({ repo, worktree, tree, branch, parent: base, message: 'm\n', at })
    expect(git(root, 'rev-parse', branch)).toBe(commit)
  })

  function restore({ repo, worktree, base }: LoopFixture) {
    return restoreWorktree({ repo, worktree, commit: base })
  }
})

test('a worktree whose .git file was being written when its writer was killed is used again', async () => {
  using dir = tempDir()
  const { root, repo, worktree, base } = await makeLoop(join(dir.path, 'r'))
  for (const tear of [
    () => rmSync(join(worktree, '.git')),
    () => writeFileSync(join(worktree, '.git'), ''),
  ]) {
    tear()
    expect(await ensureWorktree({ repo, path: worktree, branch, base })).toBe('reused')
    expect(git(worktree, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(branch)
  }
  expect(git(root, 'status', '--porcelain', '--', 'README.md')).toBe('')
})

test('private git folders of the dead go; one that is in use, or was made just now, stays', async () => {
  using dir = tempDir()
  const { repo } = await makeLoop(join(dir.path, 'r'))
  const old = (folder: string) => utimesSync(folder, 1, 1)
  const dead = join(tmpdir(), 'automaton-git-dead01')
  const fresh = join(tmpdir(), 'automaton-git-fresh1')
  for (const folder of [dead, fresh]) mkdirSync(join(folder, 'objects'), { recursive: true })
  old(dead)
  await using used = privateGit({ repo, persist: false })
  old(used.dir)
  sweepPrivateGits()
  expect([dead, fresh, used.dir].map((folder) => existsSync(folder))).toEqual([false, true, true])
  rmSync(fresh, { recursive: true })
})
