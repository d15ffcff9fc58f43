import { describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lastWords, personGit, withoutPassword } from '../../src/system/person-git.ts'
import {
  absoluteUrl,
  cloneInto,
  fetchBranch,
  remoteBranch,
  sameUrl,
  upstreamOf,
} from '../../src/system/remote.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { repositoryOf } from './fixtures.ts'

const reach = (dir: string, more: Record<string, string> = {}) => ({
  env: { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1', ...more },
  interactive: false,
  signal: new AbortController().signal,
})

test.each([
  ['https://pat:word@git.test/x.git', 'https://***@git.test/x.git'],
  ['fatal: ssh://token@git.test failed', 'fatal: ssh://***@git.test failed'],
  ['git@git.test:x.git', 'git@git.test:x.git'],
  ['https://git.test/a@b', 'https://git.test/a@b'],
])('%s is shown as %s', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown)
})

test("git's last words are its complaints, in one line, without a password", () => {
  const stderr =
    "Cloning into 'x'...\nremote: no such thing.\nfatal: https://pat:word@git.test/x: not found.\n"
  const said = lastWords({ code: 128, stdout: '', stderr })
  expect(said).toBe('remote: no such thing.; fatal: https://***@git.test/x: not found')
  expect(lastWords({ code: 128, stdout: '', stderr: '' })).toBe('git ended with 128')
})

test.each([
  ['/a/home.git', '/a/home.git/', true],
  ['/a/home.git', 'file:///a/home', true],
  ['https://git.test/home', 'https://git.test/home.git', true],
  ['https://git.test/home', 'https://git.test/away', false],
])('%s and %s are the same repository: %p', (a, b, same) => {
  expect(sameUrl(a, b)).toBe(same)
})

test('a path of this disk becomes absolute, an address stays', () => {
  using dir = tempDir()
  mkdirSync(join(dir.path, 'home.git'))
  expect(absoluteUrl('home.git', dir.path)).toBe(join(dir.path, 'home.git'))
  for (const url of ['https://git.test/home.git', 'git@git.test:home.git', 'nowhere.git'])
    expect(absoluteUrl(url, dir.path)).toBe(url)
})

test('variables of another repository do not reach it, those of the way there do', async () => {
  using dir = tempDir()
  const alias = ['-c', 'alias.seen=!env', 'seen']
  const env = { GIT_DIR: '/elsewhere', GIT_INDEX_FILE: '/elsewhere', GIT_SSH_COMMAND: 'ssh -4' }
  const { stdout } = await personGit(alias, { ...reach(dir.path, env), cwd: dir.path })
  expect(stdout).toContain('GIT_SSH_COMMAND=ssh -4')
  expect(stdout).toContain('GIT_TERMINAL_PROMPT=0')
  expect(stdout).not.toContain('/elsewhere')
})

describe('a clone and its remote', () => {
  test('are told apart from their settings, which name no program that runs', async () => {
    using dir = tempDir()
    const remote = makeRepo(join(dir.path, 'remote'))
    const home = join(dir.path, 'home')
    await cloneInto(remote, home, reach(dir.path))
    const repo = repositoryOf(home)
    expect(await upstreamOf(repo, 'main')).toEqual({ url: remote, branch: 'main' })
    expect(await upstreamOf(repo, 'other')).toEqual({ url: remote, branch: 'other' })

    writeFiles(remote, { 'new.md': 'new\n' })
    git(remote, 'add', '-A')
    git(remote, 'commit', '-q', '-m', 'second')
    const canary = join(dir.path, 'canary')
    git(home, 'config', 'remote.origin.uploadpack', `touch '${canary}'; git-upload-pack`)
    git(home, 'config', 'core.sshCommand', `touch '${canary}'`)
    git(home, 'config', `url.ext::touch ${canary}.insteadOf`, remote)
    const to = await remoteBranch(remote, 'main', reach(dir.path))
    expect(to).toBe(git(remote, 'rev-parse', 'main'))
    expect(await remoteBranch(remote, 'none', reach(dir.path))).toBeNull()
    const have = git(home, 'rev-parse', 'HEAD')
    const fetched = await fetchBranch({ repo, url: remote, branch: 'main', have, reach: reach(dir.path) })
    expect(fetched).toBe(to ?? '')
    expect(git(home, 'cat-file', '-t', fetched)).toBe('commit')
    expect(git(home, 'for-each-ref', '--format=%(objectname)').split('\n')).not.toContain(fetched)
    expect(await Bun.file(canary).exists()).toBe(false)
  })

  test.each(['ext::sh -c id', '--upload-pack=id', 'nowhere'])('%s is no remote', async (url) => {
    using dir = tempDir()
    const clone = cloneInto(url, join(dir.path, 'home'), reach(dir.path))
    await expect(clone).rejects.toMatchObject({ code: 'clone_failed', exit: 5 })
    await expect(remoteBranch(url, 'main', reach(dir.path))).rejects.toMatchObject({ code: 'clone_failed' })
  })
})
