import { describe, expect, test } from 'bun:test'
import { type PolicyInput, policyFor } from '../../../src/system/sandbox/policy.ts'

const input: PolicyInput = {
  worktree: '/p/.automaton/loops/x/worktree',
  cwd: '/p/.automaton/loops/x/worktree/sub',
  runFolder: '/p/.automaton/loops/x/worktree/sub/.automaton-run',
  commonDir: '/p/.git',
  worktreeGitDir: '/p/.git/worktrees/worktree',
  automaton: '/p/.automaton',
  automatonHome: '/home/u/.automaton',
  loopDir: '/p/.automaton/loops/x',
  userHome: '/home/u',
  uid: 1000,
  harnessWrites: [],
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
    expect(policy).toMatchObject({ refused: [path], makes: [], writable: [input.worktree] })
  })

  test('takes a folder in the worktree as it is', () => {
    const policy = policyFor({ ...input, harnessWrites: [`${input.worktree}/.agent`] })
    expect(policy).toMatchObject({ refused: [], makes: [], writable: [input.worktree] })
  })
})
