import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AutomatonError } from '../../../src/errors.ts'
import { landlockAbi, leastAbi } from '../../../src/system/sandbox/landlock.ts'
import type { SandboxPolicy } from '../../../src/system/sandbox/policy.ts'
import { findSandbox, type SandboxChoice } from '../../../src/system/sandbox/tier.ts'
import { wrapCommand } from '../../../src/system/sandbox/wrap.ts'
import { writeFiles } from '../../helpers/repo.ts'
import { tempDir } from '../../helpers/temp.ts'

const hasLandlock = landlockAbi() >= leastAbi

describe('the sandbox that is found', () => {
  test('is none when the loop wants none', async () => {
    const choice = await findSandbox({ path: '/usr/bin', mode: 'off' })
    expect(choice).toMatchObject({ tier: 'T0', kind: 'none', why: 'blast_radius.sandbox is "off"' })
  })

  test('is none on Windows', async () => {
    const choice = await findSandbox({ path: '', mode: 'required', platform: 'win32' })
    expect(choice).toMatchObject({ tier: 'T0', why: 'there is no sandbox for sessions on Windows' })
  })

  test.skipIf(process.platform !== 'linux')(
    'says that bubblewrap is not there, and what is used then',
    async () => {
      const choice = await findSandbox({ path: '/nowhere', mode: 'auto' })
      expect(choice.why).toStartWith('bubblewrap is in no folder of PATH')
      expect(choice).toMatchObject(
        hasLandlock ? { tier: 'T1', kind: 'landlock' } : { tier: 'T0', kind: 'none' },
      )
    },
  )

  test.skipIf(process.platform !== 'linux')('is not a bubblewrap that does not work here', async () => {
    using dir = tempDir()
    writeFiles(dir.path, {
      bwrap: '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n',
    })
    const choice = await findSandbox({ path: `${dir.path}:/usr/bin:/bin`, mode: 'auto' })
    expect(choice.why).toStartWith(
      'bubblewrap does not work here (bwrap: setting up uid map: Permission denied)',
    )
    expect(choice.kind).not.toBe('bwrap')
  })

  test.skipIf(process.platform !== 'linux')(
    'is a bubblewrap that works without a tool for signals',
    async () => {
      using dir = tempDir()
      writeFiles(dir.path, { bwrap: '#!/bin/sh\nexit 0\n', env: '#!/bin/sh\nexit 1\n' })
      const choice = await findSandbox({ path: `${dir.path}:/usr/bin:/bin`, mode: 'auto' })
      expect(choice).toMatchObject({ tier: 'T1', kind: 'bwrap', env: null, program: join(dir.path, 'bwrap') })
    },
  )
})

const bwrap: SandboxChoice = { tier: 'T1', kind: 'bwrap', why: '', program: '/usr/bin/bwrap', env: null }

function policyIn(dir: string): SandboxPolicy {
  const lists = {
    writable: [dir],
    makes: [],
    readOnly: [],
    hidden: [],
    visible: [],
    refused: [],
    programs: [],
    loose: [],
  }
  return { cwd: dir, tmp: join(dir, 'private'), ...lists }
}

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof AutomatonError) return error.code
    throw error
  }
  return 'none'
}

describe('a wrapped command', () => {
  const self = ['/opt/automaton']

  test('is the command itself where there is no sandbox', () => {
    using dir = tempDir()
    const choice: SandboxChoice = { ...bwrap, tier: 'T0', kind: 'none' }
    const policy = policyIn(dir.path)
    using wrapped = wrapCommand({ choice, policy, argv: ['agent', 'a b'], path: '/usr/bin', self })
    expect(wrapped).toMatchObject({ argv: ['agent', 'a b'], env: {}, notes: [] })
    expect(existsSync(policy.tmp)).toBe(false)
  })

  test('names its program in full, from PATH or from the folder of the session', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'bin/agent': '#!/bin/sh\n' })
    const request = { choice: bwrap, policy: policyIn(dir.path), path: join(dir.path, 'bin'), self }
    for (const name of ['agent', './bin/agent', join(dir.path, 'bin/agent')]) {
      using wrapped = wrapCommand({ ...request, argv: [name, 'x'] })
      expect(wrapped.argv.slice(-3)).toEqual(['--', join(dir.path, 'bin/agent'), 'x'])
    }
  })

  test('is not made for a program that is not there, and leaves nothing behind', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'plain.txt': 'x' })
    const policy = policyIn(dir.path)
    const wrap = (name: string) =>
      codeOf(() => wrapCommand({ choice: bwrap, policy, argv: [name], path: '/bin', self }))
    expect(['no-such-agent', './plain.txt', '/no/such'].map(wrap)).toEqual([
      'command_not_found',
      'cannot_run',
      'cannot_run',
    ])
    expect(existsSync(policy.tmp)).toBe(false)
  })

  test('takes no temporary folder that somebody else has made', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'private/planted': 'x' })
    const request = { choice: bwrap, policy: policyIn(dir.path), argv: ['sh'], path: '/bin', self }
    expect(codeOf(() => wrapCommand(request))).toBe('cannot_run')
    expect(existsSync(join(dir.path, 'private', 'planted'))).toBe(true)
  })

  test('starts the binary without a shell, and the sources from a folder that no session can write', () => {
    using dir = tempDir()
    const request = { policy: policyIn(dir.path), argv: ['sh'], path: '/bin' }
    const choice: SandboxChoice = { ...bwrap, kind: 'landlock', program: null }
    using binary = wrapCommand({ ...request, choice, self })
    expect(binary.argv.slice(0, 2)).toEqual(['/opt/automaton', 'sandbox-exec'])
    binary.cleanup()
    using sources = wrapCommand({ ...request, choice, self: ['/bin/bun', '/src/main.ts'] })
    expect(sources.argv.slice(0, 3)).toEqual(['/bin/sh', '-c', 'cd / && unset PWD OLDPWD && exec "$@"'])
    expect(sources.argv.slice(4, 7)).toEqual(['/bin/bun', '/src/main.ts', 'sandbox-exec'])
    expect(sources.env).toEqual({ TMPDIR: join(dir.path, 'private') })
  })
})

describe.skipIf(!hasLandlock && !process.env.TEST_REQUIRE_TOOLS)('the hidden verb', () => {
  const verb = (text: string) =>
    Bun.spawnSync([
      process.execPath,
      join(import.meta.dir, 'enter-main.ts'),
      'sandbox-exec',
      text,
      '/bin/echo',
      'free',
    ])

  test.each(['', '{}', '{"parent":1}', 'null'])('runs nothing without a whole policy (%p)', (text) => {
    const done = verb(text)
    expect(done.exitCode).toBe(126)
    expect(done.stdout.toString()).toBe('')
    expect(done.stderr.toString()).toStartWith('automaton: no sandbox (Landlock): ')
  })

  test('runs nothing when whoever wanted it has gone', () => {
    const ground = { cwd: '/', tmp: '/nowhere', visible: [], rules: [] }
    const done = verb(JSON.stringify({ parent: 1, ground }))
    expect([done.exitCode, done.stdout.toString()]).toEqual([125, ''])
  })

  test('gives no reason to run a program that cannot be started', () => {
    const ground = { cwd: '/no/such/folder', tmp: '/nowhere', visible: [], rules: [] }
    const done = verb(JSON.stringify({ parent: process.pid, ground }))
    expect([done.exitCode, done.stdout.toString()]).toEqual([126, ''])
  })
})
