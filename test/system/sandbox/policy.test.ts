import { describe, expect, test } from 'bun:test'
import { type PolicyInput, policyFor } from '../../../src/system/sandbox/policy.ts'

const input: PolicyInput = {
  worktree: '/p/.automaton/loops/x/worktree',
  cwd: '/p/.automaton/loops/x/worktree/sub',
  runFolder: '/p/.automaton/loops/x/worktree/sub/.automaton-run',
  commonDir: '/p/.git',
  worktreeGitDir: '/p/.git/worktrees/worktree',
  root: '/p',
  automaton: '/p/.automaton',
  automatonHome: '/home/u/.automaton',
  loopDir: '/p/.automaton/loops/x',
  userHome: '/home/u',
  uid: 1000,
  harnessWrites: [],
  otherWrites: [],
  self: ['/opt/automaton/automaton'],
  path: ['/usr/bin'],
  temporary: ['/tmp'],
  real: (path) => path,
  tmp: '/tmp/private',
}

describe('the policy of a session', () => {
  test('opens the worktree and nothing else', () => {
    expect(policyFor(input).writable).toEqual([input.worktree])
  })

  test('keeps git, automaton and the pointer between the two as they are', () => {
    expect(policyFor(input).readOnly.sort()).toEqual(
      [
        '/home/u/.automaton',
        '/p/.automaton',
        '/p/.automaton/loops/x',
        '/p/.automaton/loops/x/worktree/.git',
        '/p/.git',
        '/p/.git/worktrees/worktree',
      ].sort(),
    )
  })

  test('keeps them in the primary checkout too', () => {
    const primary = {
      ...input,
      worktree: '/p',
      cwd: '/p',
      runFolder: '/p/.automaton-run',
      worktreeGitDir: null,
    }
    const policy = policyFor(primary)
    expect(policy.writable).toEqual(['/p'])
    expect(policy.readOnly).toContain('/p/.git')
    expect(policy.readOnly).toContain('/p/.automaton')
  })

  test('knows no git folder where there is none', () => {
    const plain = { ...input, worktree: '/p', commonDir: null, worktreeGitDir: null }
    expect(policyFor(plain).readOnly.filter((path) => path.endsWith('.git'))).toEqual([])
  })

  test('opens papers that lie elsewhere', () => {
    expect(policyFor({ ...input, runFolder: '/papers' }).writable).toContain('/papers')
  })

  test('hides keys, tokens, and the sockets of services that act for the user', () => {
    const { hidden } = policyFor(input)
    for (const path of [
      '/home/u/.ssh',
      '/home/u/.config/gh',
      '/home/u/.netrc',
      '/run/docker.sock',
      '/run/user/1000',
    ])
      expect(hidden).toContain(path)
    expect(hidden).not.toContain('/run/systemd/private')
    expect(policyFor({ ...input, uid: 0 }).hidden).toContain('/run/systemd/private')
  })

  test('opens the folders that the harness declared', () => {
    const policy = policyFor({
      ...input,
      harnessWrites: ['~/.agent', '/var/lib/agent', '~/.agent', '~/.agent/log'],
    })
    expect(policy.makes).toEqual(['/home/u/.agent', '/var/lib/agent'])
    expect(policy.writable).toEqual([input.worktree, '/home/u/.agent', '/var/lib/agent'])
    expect(policy.refused).toEqual([])
  })

  test.each([
    ['a git folder', '/p/.git/hooks'],
    ["automaton's own folder", '/p/.automaton/loops/x'],
    ['another loop', '/p/.automaton/loops/y/worktree'],
    ["automaton's HOME", '~/.automaton/plugins'],
    ["the worktree's git pointer", '/p/.automaton/loops/x/worktree/.git'],
    ['the whole home', '~/'],
    ['what holds the home', '/home'],
    ['everything', '/'],
    ['a relative path', 'state'],
    ['a way around', '~/.agent/../.automaton'],
  ])('refuses a harness %s', (_, path) => {
    const policy = policyFor({ ...input, harnessWrites: [path] })
    expect(policy).toMatchObject({
      refused: [{ path, why: 'it is protected, or holds too much' }],
      makes: [],
      writable: [input.worktree],
    })
  })

  test.each([
    ['that holds the project', '/home/u/code', {}],
    ['that is the project', '/home/u/code/p', {}],
    ['that holds automaton’s HOME', '/srv/state', { automatonHome: '/srv/state/automaton' }],
    ['that holds the repository’s git folder', '/srv/git', { commonDir: '/srv/git/p.git' }],
    ['that holds automaton’s program', '/home/u/.local', { self: ['/home/u/.local/bin/automaton'] }],
    ['that is the folder of automaton’s program', '/opt/a', { self: ['/opt/a/automaton'] }],
    ['from which programs start', '/home/u/.amp/bin', { path: ['/home/u/.amp/bin'] }],
    ['that all programs share for temporary files', '/tmp', {}],
    ['that holds the shared temporary folder', '/private', { temporary: ['/private/tmp'] }],
  ])('refuses a harness a folder %s', (_, path, place) => {
    const inCode = { root: '/home/u/code/p', automaton: '/home/u/code/p/.automaton', uid: null }
    const { refused, makes } = policyFor({ ...input, ...inCode, ...place, harnessWrites: [path] })
    expect({ refused: refused.map((one) => one.path), makes }).toEqual({ refused: [path], makes: [] })
  })

  test('opens a folder below the shared temporary one, and an ignored one of the project', () => {
    const harnessWrites = ['/tmp/agent', '/p/node_modules/.cache']
    expect(policyFor({ ...input, harnessWrites })).toMatchObject({ refused: [], makes: harnessWrites })
  })

  describe('judges a harness’s folder by where it leads', () => {
    const links: Record<string, string> = {
      '/home/u/.cache/a': '/home/u',
      '/home/u/.cache/b': '/home/u/.ssh',
      '/home/u/.cache/c': '/p/.git/hooks',
      '/home/u/.cache/d': '/data/d',
      '/home/u/.claude': '/home/u/dotfiles/claude',
    }
    const real = (path: string): string => {
      const link = Object.keys(links).find((name) => path === name || path.startsWith(`${name}/`))
      return link === undefined ? path : `${links[link]}${path.slice(link.length)}`
    }
    test.each([
      ['the home', ['~/.cache/a'], [], 1],
      ['a key', ['~/.cache/b'], [], 1],
      ['the hooks', ['~/.cache/c/x'], [], 1],
      ['a place of the person', ['~/.claude'], ['/home/u/dotfiles/claude'], 0],
      ['two names for one place', ['~/.claude', '~/dotfiles/claude'], ['/home/u/dotfiles/claude'], 0],
      ['away from a folder that is open', ['~/.cache', '~/.cache/d'], ['/home/u/.cache'], 0],
    ])('%s', (_, harnessWrites, makes, refusals) => {
      const policy = policyFor({ ...input, harnessWrites, real })
      expect(policy.makes).toEqual(makes)
      expect(policy.refused).toHaveLength(refusals)
    })
  })

  test('refuses a folder behind a link that another loop’s session can have made, and only there', () => {
    const links = [
      ['/home/u/.cache/a', '/home/u/.config/x'],
      ['/home/u/.claude', '/home/u/dotfiles'],
    ] as const
    const real = (path: string) => links.reduce((at, [name, target]) => at.replace(name, target), path)
    const harnessWrites = ['~/.cache/a', '~/.claude', '~/.cache/plain']
    const { makes, refused } = policyFor({ ...input, harnessWrites, otherWrites: ['~/.cache'], real })
    expect(makes).toEqual(['/home/u/dotfiles', '/home/u/.cache/plain'])
    expect(refused.map(({ path }) => path)).toEqual(['~/.cache/a'])
  })

  test('keeps folders of PATH in a harness’s folder as they are, and names those that links lead to', () => {
    const real = (path: string) => path.replace('/home/u/.amp/current', '/home/u/.amp/v1')
    const path = ['/home/u/.amp/bin', '/home/u/.amp/current/bin', 'bin', '/usr/bin']
    expect(policyFor({ ...input, harnessWrites: ['~/.amp'], path, real })).toMatchObject({
      programs: ['/home/u/.amp/bin', '/home/u/.amp/v1/bin'],
      loose: ['/home/u/.amp/current/bin'],
    })
  })

  test('takes a folder in the worktree as it is', () => {
    const policy = policyFor({ ...input, harnessWrites: [`${input.worktree}/.agent`] })
    expect(policy).toMatchObject({ refused: [], makes: [], writable: [input.worktree] })
  })
})
