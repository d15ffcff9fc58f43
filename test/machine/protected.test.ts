import { expect, test } from 'bun:test'
import { isGitFolder, isProtectedName } from '../../src/machine/protected.ts'

test('only names that mean .git itself are git’s folder', () => {
  for (const name of ['.git', '.GIT', '.git.', '.git ', 'git~1', '.g\u200dit', '.git::$DATA']) {
    expect(isGitFolder(name)).toBe(true)
  }
  for (const name of ['.gitignore', '.github', 'git', 'git~', 'x.git', ''])
    expect(isGitFolder(name)).toBe(false)
})

test('every spelling of a protected name is protected, and an ordinary name is not', () => {
  for (const name of [
    '.env',
    '.ENV.prod',
    'Agents.MD',
    'opencode.json. ',
    '.npmrc',
    '.Claude',
    '.cod\u200eex',
  ]) {
    expect(isProtectedName(name)).toBe(true)
  }
  for (const name of [
    'src',
    'a.ts',
    'agents',
    'claude',
    'gemini.ts',
    '.eslintrc',
    'package.json',
    'Zażółć',
  ]) {
    expect(isProtectedName(name)).toBe(false)
  }
})
