import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFiles } from '../helpers/repo.ts'
import { scratch, withLoop } from './fixture.ts'

describe('init', () => {
  test('makes the folder, finds what is there, and says what to type next', async () => {
    using s = scratch({ 'package.json': '{"scripts":{"test":"node --test"}}' })
    mkdirSync(join(s.root, 'bin'))
    writeFiles(s.root, { 'bin/claude': '#!/bin/sh\n', 'bin/opencode': '#!/bin/sh\n' })
    const call = await s.call(['init'], { env: { PATH: `${join(s.root, 'bin')}:${process.env.PATH}` } })
    expect(call.code).toBe(0)
    expect(call.stdout).toContain('npm test')
    expect(call.stdout).toMatch(/agents +opencode, claude\n/)
    expect(call.stdout).toContain('automaton create-loop nightly --from-template backlog\n')
    expect(readFileSync(join(s.root, '.automaton/.gitignore'), 'utf8')).toBe(
      '/loops/\n/cache/\n/tasks/*/.state\n',
    )
    expect((await s.run('init', '--json')).json()).toMatchObject({
      schema: 1,
      created: false,
      base_branch: 'main',
    })
  })

  test('no harness is a hint, and no git is --no-worktree', async () => {
    using s = scratch(null)
    const call = await s.call(['init'], { env: { PATH: '/nowhere' } })
    expect(call.code).toBe(0)
    expect(call.stdout).toContain('none on PATH')
    expect(call.stdout).toContain('--no-worktree')
  })

  test('offers only what would run, and leaves nothing in HOME or the temporary folder', async () => {
    using s = scratch()
    writeFiles(s.root, { 'bin/claude': '#!/bin/sh\n' })
    const tmp = join(s.root, '..', 'tmp')
    mkdirSync(tmp)
    const env = { PATH: `${join(s.root, 'bin')}:${process.env.PATH}`, TMPDIR: tmp }
    const report = (await s.call(['init', '--json'], { env })).json()
    expect(report).toMatchObject({ other_agents: [], base_branch: 'main' })
    expect(report.harnesses).toContainEqual(expect.objectContaining({ name: 'claude' }))
    expect(report.templates).toEqual(['backlog', 'ci-triage', 'self-improvement'])
    const made = await s.call(['create-loop', 'nightly', '--from-template', 'backlog'], { env })
    expect(made.code).toBe(0)
    await s.call(['doctor', '--json'], { env })
    expect(readdirSync(s.home)).toEqual(['.automaton'])
    expect(readdirSync(tmp)).toEqual([])
  })

  test('a repository without a commit is told to make one first', async () => {
    using s = scratch(null)
    Bun.spawnSync(['git', 'init', '-q', s.root])
    expect((await s.run('init')).stdout).toContain('next  git add -A && git commit -m "first commit"\n')
  })
})

describe('doctor', () => {
  test('exit 3 with a fix for each fault, 0 when nothing needs doing', async () => {
    using s = scratch()
    expect((await s.run('doctor')).code).toBe(0)
    await s.run('create-loop', 'nightly', '--from-template', 'backlog')
    const { config } = s.places('nightly')
    writeFileSync(config, readFileSync(config, 'utf8').replace('"use": "opencode"', '"use": "nosuch"'))
    const call = await s.run('doctor', '--json')
    expect(call.code).toBe(3)
    const { findings } = call.json() as { findings: { level: string; fix: string; detail: string }[] }
    const bad = findings.filter((finding) => finding.level === 'bad')
    expect(bad).toHaveLength(1)
    expect(bad[0]?.detail).toContain('nosuch')
    expect(bad[0]?.fix).not.toBe('')
  })

  test('a source or verifier that nobody provides is said by doctor and by the gate, before a tick tries', async () => {
    using s = await withLoop()
    const { config } = s.places('nightly')
    const good = readFileSync(config, 'utf8')
    for (const [is, wrong, says] of [
      [
        '"kind": "backlog"',
        '"kind": "jira"',
        'unknown source (jira): there are audit, backlog, ci, command, single',
      ],
      ['"use": "session"', '"use": "magic"', 'unknown verifier (magic): there are command, metric, session'],
    ] as const) {
      writeFileSync(config, good.replace(is, wrong))
      expect((await s.run('doctor')).stdout.replace(/\s+/g, ' ')).toContain(says)
      const gate = await s.run('check-gate', 'nightly')
      expect(gate.code).toBe(2)
      expect(gate.json()).toMatchObject({ reason: 'refused:config', detail: says, halt_reason: null })
    }
  })

  test('outside of a project it looks at the machine', async () => {
    using s = scratch(null)
    const call = await s.run('doctor', '--json')
    expect(call.code).toBe(0)
    const { findings } = call.json() as { findings: { what: string; level: string; detail: string }[] }
    const looked = findings.map(({ what }) => what)
    expect(looked).toEqual(['environment', 'git', 'simple-git', 'project', 'harnesses', 'sandbox', 'memory'])
    expect(findings.find(({ what }) => what === 'project')).toMatchObject({
      level: 'hint',
      detail: expect.stringContaining('not in a project'),
      fix: 'cd to your repository, or pass --project DIR',
    })
  })
})
