import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { landlockGrants } from '../../../src/system/sandbox/grants.ts'
import {
  accessTo,
  anchorsOf,
  groundOf,
  hidingIn,
  holesIn,
  type Rule,
} from '../../../src/system/sandbox/ground.ts'
import type { SandboxPolicy } from '../../../src/system/sandbox/policy.ts'
import { writeFiles } from '../../helpers/repo.ts'
import { tempDir } from '../../helpers/temp.ts'

function policyIn(dir: string, lists: Partial<SandboxPolicy>): SandboxPolicy {
  const none = {
    writable: [],
    makes: [],
    readOnly: [],
    hidden: [],
    visible: [],
    refused: [],
    programs: [],
    loose: [],
  }
  return { cwd: dir, tmp: join(dir, 'tmp'), ...none, ...lists }
}

describe('a policy on the disk', () => {
  test('follows links, so that what they mean is protected and hidden', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'keys/id': 'x' })
    symlinkSync('keys', join(dir.path, '.ssh'))
    const { rules } = groundOf(policyIn(dir.path, { hidden: [join(dir.path, '.ssh')] }))
    expect(rules).toEqual([{ path: join(dir.path, 'keys'), access: 'hide', kind: 'folder' }])
  })

  test('leaves out secrets that are not there', () => {
    using dir = tempDir()
    expect(groundOf(policyIn(dir.path, { hidden: [join(dir.path, '.ssh')] })).rules).toEqual([])
  })

  test("makes the harness's folders, for nobody else to read", () => {
    using dir = tempDir()
    const folder = join(dir.path, 'a', 'b')
    groundOf(policyIn(dir.path, { writable: [folder], makes: [folder] }))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  test('takes a brake before what was opened, and that before a secret, for the same path', () => {
    using dir = tempDir()
    const at = (name: string) => join(dir.path, name)
    for (const name of ['brake', 'state']) mkdirSync(at(name))
    const ground = groundOf(
      policyIn(dir.path, {
        writable: [at('brake'), at('state')],
        readOnly: [at('brake')],
        hidden: [at('brake'), at('state')],
      }),
    )
    expect(ground.rules.map((rule) => rule.access).sort()).toEqual(['read', 'write'])
    expect(accessTo(ground.rules, at('brake/x'))).toBe('read')
    expect(accessTo(ground.rules, at('state/x'))).toBe('write')
  })

  test('gives a harness no folder that a link puts among the brakes', () => {
    using dir = tempDir()
    const at = (name: string) => join(dir.path, name)
    writeFiles(dir.path, { 'git/hooks/sample': 'x' })
    symlinkSync(at('git/hooks'), at('state'))
    const lists = { writable: [at('state')], makes: [at('state')], readOnly: [at('git')] }
    expect(groundOf(policyIn(dir.path, lists)).rules).toEqual([
      { path: at('git'), access: 'read', kind: 'folder' },
    ])
  })

  test('lets the longest path decide, and names folders before what they hold', () => {
    using dir = tempDir()
    const at = (name: string) => join(dir.path, name)
    writeFiles(dir.path, { 'loop/tree/.git': 'gitdir: x\n' })
    const readOnly = [at('loop/tree/.git'), at('loop')]
    const { rules } = groundOf(policyIn(dir.path, { writable: [at('loop/tree')], readOnly }))
    expect(rules.map((rule) => rule.path)).toEqual([at('loop'), at('loop/tree'), at('loop/tree/.git')])
    expect(accessTo(rules, at('loop/loop.json'))).toBe('read')
    expect(accessTo(rules, at('loop/tree/new'))).toBe('write')
    expect(accessTo(rules, at('loop/tree/.git'))).toBe('read')
    expect(accessTo(rules, at('loop-two'))).toBe('read')
  })

  test('keeps a missing brake only where somebody could make it', () => {
    using dir = tempDir()
    const at = (name: string) => join(dir.path, name)
    mkdirSync(at('open'))
    const readOnly = [at('open/later'), at('shut/later')]
    const { rules } = groundOf(policyIn(dir.path, { writable: [at('open')], readOnly }))
    expect(rules.at(-1)).toEqual({ path: at('open/later'), access: 'read', kind: 'missing' })
    expect(rules).toHaveLength(2)
    expect(existsSync(at('open/later'))).toBe(false)
    expect(holesIn(rules).map((rule) => rule.path)).toEqual([at('open/later')])
  })
})

describe('what lies in a folder that may be written', () => {
  const rule = (path: string, access: Rule['access'], kind: Rule['kind'] = 'folder') => ({
    path,
    access,
    kind,
  })
  const rules = [
    rule('/h/.config', 'write'),
    rule('/h/.config/a/b/key', 'hide', 'file'),
    rule('/h/.config/a/bin', 'read'),
    rule('/h/.config/top', 'hide'),
    rule('/h/.config/top/x/open', 'write'),
    rule('/h/.config/c/later', 'read', 'missing'),
    rule('/p/.git', 'read'),
  ]

  test('is kept from being moved with the folders above it', () => {
    expect(anchorsOf(rules)).toEqual(['/h/.config/a', '/h/.config/a/b'])
  })

  test('is found where it is hidden', () => {
    const found = hidingIn(rules, ['/h/.config', '/h/.config/top/x/open', '/other'])
    expect(found).toEqual([{ folder: '/h/.config', hidden: '/h/.config/a/b/key' }])
  })
})

describe('what Landlock is granted', () => {
  test('is all reading where nothing is hidden', () => {
    using dir = tempDir()
    const grants = landlockGrants(groundOf(policyIn(dir.path, { writable: [dir.path] })))
    expect(grants.filter((grant) => grant.access === 'read')).toEqual([{ path: '/', access: 'read' }])
    expect(grants).toContainEqual({ path: dir.path, access: 'write' })
    expect(grants).toContainEqual({ path: join(dir.path, 'tmp'), access: 'write' })
  })

  test('is reading around what is hidden, not through links to it, and what is opened in it again', () => {
    using dir = tempDir()
    const at = (name: string) => join(dir.path, name)
    writeFiles(dir.path, {
      '.aws/sso/token': 'x',
      '.aws/credentials': 'x',
      '.config/gh/hosts': 'x',
      '.config/a': 'x',
    })
    writeFiles(dir.path, { 'plain/file': 'x' })
    symlinkSync(at('.aws'), at('link'))
    const hidden = [at('.aws'), at('.config/gh')]
    const grants = landlockGrants(groundOf(policyIn(dir.path, { hidden, writable: [at('.aws/sso')] })))
    const reads = grants.filter((grant) => grant.access === 'read').map((grant) => grant.path)
    expect(reads.filter((path) => path.startsWith(dir.path)).sort()).toEqual(
      [at('.aws/sso'), at('.config/a'), at('plain')].sort(),
    )
    expect(reads).toContain('/usr')
    expect(reads).not.toContain('/')
  })
})
