import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fastForward } from '../../src/system/fast-forward.ts'
import { findRepository } from '../../src/system/repository.ts'
import { type Files, git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

/** A checkout at its first commit, and what comes in as the second: a file changed, one gone, one new, one to a folder. */
function behind(dir: string) {
  const root = makeRepo(join(dir, 'home'), {
    'config.md': 'old\n',
    'gone.md': 'gone\n',
    'mine.md': 'mine\n',
    turns: 'a file\n',
  })
  const from = git(root, 'rev-parse', 'HEAD')
  rmSync(join(root, 'gone.md'))
  rmSync(join(root, 'turns'))
  writeFiles(root, { 'config.md': 'new\n', 'prompts/new.md': 'new\n', 'turns/inner.md': 'a folder\n' })
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'second')
  const to = git(root, 'rev-parse', 'HEAD')
  git(root, 'reset', '-q', '--hard', from)
  const repo = findRepository(root)
  if (!repo) throw new Error('no repository')
  return { root, from, to, run: () => fastForward({ repo, branch: 'main', from, to, upstream: 'main' }) }
}

const incoming: Files = { 'config.md': 'new\n', 'prompts/new.md': 'new\n', 'turns/inner.md': 'a folder\n' }

function expectArrived(root: string, to: string): void {
  for (const [name, text] of Object.entries(incoming))
    expect(readFileSync(join(root, name), 'utf8')).toBe(text)
  expect(existsSync(join(root, 'gone.md'))).toBe(false)
  expect(git(root, 'rev-parse', 'HEAD', 'refs/remotes/origin/main').split('\n')).toEqual([to, to])
  // By this the tripwire of a loop in HOME tells an installation from a session.
  expect(readFileSync(join(root, '.git/logs/HEAD'), 'utf8').trimEnd().split('\n').at(-1)).toContain(` ${to} `)
}

test('files, index and branch arrive at the new commit', async () => {
  using dir = tempDir()
  const { root, to, run } = behind(dir.path)
  await run()
  expectArrived(root, to)
  expect(git(root, 'status', '--porcelain')).toBe('')
})

test('what a person changed elsewhere stays, staged or not', async () => {
  using dir = tempDir()
  const { root, to, run } = behind(dir.path)
  writeFiles(root, { 'mine.md': 'changed\n', 'staged.md': 'staged\n', 'new.md': 'new\n' })
  git(root, 'add', 'staged.md')
  await run()
  expectArrived(root, to)
  expect(git(root, 'status', '--porcelain').split('\n').toSorted()).toEqual([
    '?? new.md',
    'A  staged.md',
    'M mine.md',
  ])
})

test.each<[string, string, (root: string) => void]>([
  ['a changed file', 'config.md', (root) => writeFileSync(join(root, 'config.md'), 'mine\n')],
  ['a changed file that goes', 'gone.md', (root) => writeFileSync(join(root, 'gone.md'), 'mine\n')],
  [
    'a file in the place of a new one',
    'prompts/new.md',
    (root) => writeFiles(root, { 'prompts/new.md': 'mine\n' }),
  ],
  [
    'an ignored file in the place of a new one',
    'prompts/new.md',
    (root) => writeFiles(root, { '.gitignore': 'prompts/\n', 'prompts/new.md': 'mine\n' }),
  ],
  [
    'a file in the place of a new folder',
    'prompts/new.md',
    (root) => writeFiles(root, { prompts: 'mine\n' }),
  ],
  [
    'a change that is only staged',
    'config.md',
    (root) => {
      writeFileSync(join(root, 'config.md'), 'mine\n')
      git(root, 'add', 'config.md')
      writeFileSync(join(root, 'config.md'), 'old\n')
    },
  ],
])('%s stops it before anything is written', async (_what, name, change) => {
  using dir = tempDir()
  const { root, from, run } = behind(dir.path)
  change(root)
  const before = git(root, 'status', '--porcelain', '--ignored')
  await expect(run()).rejects.toMatchObject({ code: 'home_changed', message: expect.stringContaining(name) })
  expect(git(root, 'status', '--porcelain', '--ignored')).toBe(before)
  expect(git(root, 'rev-parse', 'HEAD')).toBe(from)
})

test('one that was cut short between two files, or before its branch moved, is ended by the next', async () => {
  using dir = tempDir()
  const { root, to, run } = behind(dir.path)
  writeFileSync(join(root, 'config.md'), 'new\n')
  rmSync(join(root, 'gone.md'))
  await run()
  expectArrived(root, to)
  expect(git(root, 'status', '--porcelain')).toBe('')

  const second = behind(join(dir.path, 'again'))
  git(second.root, 'read-tree', '-m', '-u', second.to)
  await second.run()
  expectArrived(second.root, second.to)
  expect(git(second.root, 'status', '--porcelain')).toBe('')
})

test('no hook and no filter of the repository runs', async () => {
  using dir = tempDir()
  const { root, to, run } = behind(dir.path)
  const canary = join(dir.path, 'canary')
  const hooks = ['post-checkout', 'post-merge', 'post-index-change', 'reference-transaction']
  for (const hook of hooks)
    writeFiles(join(root, '.git', 'hooks'), { [hook]: `#!/bin/sh\ntouch '${canary}'\n` })
  for (const kind of ['smudge', 'clean']) git(root, 'config', `filter.x.${kind}`, `touch '${canary}'; cat`)
  git(root, 'config', 'core.fsmonitor', `touch '${canary}'`)
  mkdirSync(join(root, '.git', 'info'), { recursive: true })
  writeFileSync(join(root, '.git', 'info', 'attributes'), '* filter=x\n')
  rmSync(canary, { force: true })
  await run()
  expect(existsSync(canary)).toBe(false)
  expect(readFileSync(join(root, 'config.md'), 'utf8')).toBe('new\n')
  expect(readFileSync(join(root, '.git', 'refs', 'heads', 'main'), 'utf8').trim()).toBe(to)
})
