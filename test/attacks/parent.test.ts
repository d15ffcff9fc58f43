import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from '../helpers/project.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { artifact, haltedLoop, makeTarget } from './kit.ts'

setDefaultTimeout(60_000)

const hooks = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-rewrite',
  'post-update',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'prepare-commit-msg',
  'proc-receive',
  'push-to-checkout',
  'reference-transaction',
  'sendemail-validate',
  'update',
]

/** Settings that make git run a program, `$C` being the program that notes that it ran. */
const settings: [key: string, value: string][] = [
  ['core.fsmonitor', '$C fsmonitor'],
  ['core.pager', '$C pager'],
  ['core.editor', '$C editor'],
  ['core.askPass', '$C'],
  ['core.sshCommand', '$C ssh'],
  ['core.gitProxy', '$C proxy'],
  ['core.alternateRefsCommand', '$C alternate'],
  ['sequence.editor', '$C sequence'],
  ['pager.log', '$C pager'],
  ['pager.diff', '$C pager'],
  ['interactive.diffFilter', '$C filter'],
  ['filter.x.clean', '$C clean; cat'],
  ['filter.x.smudge', '$C smudge; cat'],
  ['filter.y.process', '$C process'],
  ['filter.y.required', 'true'],
  ['diff.x.textconv', '$C textconv'],
  ['diff.x.command', '$C command'],
  ['diff.external', '$C external'],
  ['merge.x.driver', '$C driver'],
  ['gpg.program', '$C gpg'],
  ['gpg.ssh.program', '$C gpg'],
  ['commit.gpgSign', 'true'],
  ['tag.gpgSign', 'true'],
  ['log.showSignature', 'true'],
  ['user.signingKey', 'x'],
  ['credential.helper', '!$C credential'],
  ['alias.status', '!$C alias'],
  ['alias.read-tree', '!$C alias'],
  ['uploadpack.packObjectsHook', '$C upload'],
  ['remote.origin.url', 'ext::$C remote'],
  ['remote.origin.promisor', 'true'],
  ['remote.origin.partialclonefilter', 'blob:none'],
  ['extensions.partialClone', 'origin'],
  ['protocol.ext.allow', 'always'],
  ['trailer.x.command', '$C trailer'],
  ['gc.auto', '1'],
  ['maintenance.strategy', 'incremental'],
]

/** Puts a canary wherever git would run one, into a repository's git folder. Returns the folder in which they sing. */
function plantCanaries(gitDir: string, dir: string): string {
  const sung = join(dir, 'sung')
  mkdirSync(sung, { recursive: true })
  const canary = join(dir, 'canary')
  writeFileSync(canary, `#!/bin/sh\ntouch "${sung}/\${1:-$(basename "$0")}"\n`)
  chmodSync(canary, 0o755)
  for (const hook of hooks) {
    writeFiles(gitDir, { [`hooks/${hook}`]: `#!/bin/sh\ntouch "${sung}/hook-${hook}"\n` })
  }
  writeFiles(gitDir, { 'info/attributes': '*.txt filter=x diff=x merge=x\n*.md filter=y\n' })
  const text = settings.map(([key, value]) => {
    const at = key.lastIndexOf('.')
    const [section = '', ...sub] = key.slice(0, at).split('.')
    const head = sub.length > 0 ? `[${section} "${sub.join('.')}"]` : `[${section}]`
    return `${head}\n\t${key.slice(at + 1)} = ${JSON.stringify(value.replaceAll('$C', canary))}`
  })
  writeFiles(dir, { included: text.join('\n') })
  const config = join(gitDir, 'config')
  writeFileSync(
    config,
    `${readFileSync(config, 'utf8')}${text.join('\n')}\n[include]\n\tpath = ${join(dir, 'included')}\n`,
  )
  return sung
}

/** Every command that a person has after a tick, the ones that look and the ones that act. */
async function everyCommand(p: TestProject, options: { cwd?: string; env?: Record<string, string> } = {}) {
  const halt = () => p.state().halt?.id ?? 'none'
  const commands = [
    ['status'],
    ['status', p.loop, '--json'],
    ['loop-list'],
    ['log', p.loop],
    ['log', p.loop, '--tick', '1'],
    ['task', 'fix-it'],
    ['audit'],
    ['doctor'],
    ['plugins'],
    ['scope-check', 'fix-it'],
    ['can-edit', 'src/work.txt', '--loop-worktree', p.loop],
    ['can-continue', p.loop],
    ['check-gate', p.loop],
    ['approve', '--loop', p.loop, '--halt', '?', '--discard'],
    ['sync', p.loop],
    ['tick', p.loop],
    ['repair', p.loop],
  ]
  const codes: Record<string, number | null> = {}
  for (const command of commands) {
    const args = command.map((word) => (word === '?' ? halt() : word))
    const call = await p.call(args, { home: p.home, ...options })
    codes[command[0] ?? ''] = call.code
    expect(call.code, `${args.join(' ')}\n${call.stdout}${call.stderr}`).not.toBe(1)
  }
  return codes
}

describe('a repository full of canaries, by its settings, hooks and attributes', () => {
  test('sings for the person’s own git, so that the other tests can fail (S29)', () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'repo'), { 'a.txt': 'x\n' })
    const sung = plantCanaries(join(root, '.git'), dir.path)
    writeFileSync(join(root, 'a.txt'), 'y\n')
    for (const args of [['status'], ['diff'], ['worktree', 'add', 'x']]) {
      try {
        git(root, ...args)
      } catch {
        // A canary is no good filter.
      }
    }
    expect(readdirSync(sung)).toEqual(
      expect.arrayContaining(['fsmonitor', 'command', 'hook-post-checkout', 'clean', 'smudge']),
    )
  })

  test('is worked in and looked at without a sound (S29)', async () => {
    using p = await makeTarget()
    const sung = plantCanaries(join(p.root, '.git'), p.home)
    expect((await p.tick()).code).toBe(0)
    writeFileSync(join(p.root, 'README.md'), 'a person works here\n')
    writeFileSync(join(p.worktree, 'src', 'work.txt'), 'changed between ticks\n')
    const codes = await everyCommand(p)
    expect(codes).toMatchObject({ doctor: 0, status: 0, tick: 0, 'check-gate': 0 })
    await everyCommand(p, { cwd: p.worktree })
    expect(readdirSync(sung)).toEqual([])
  })

  test('planted by a session halts the loop, and nothing of it runs then or later (S29)', async () => {
    using p = await makeTarget()
    await p.tick()
    const source = join(p.home, 'source')
    makeRepo(source)
    const sung = plantCanaries(join(source, '.git'), p.home)
    const script = [
      `S='${source}/.git'; G=../../../../.git`,
      'cp $S/config $G/config; cp $S/hooks/* $G/hooks/; cp $S/info/attributes $G/info/attributes',
      'cp $S/config $G/worktrees/worktree/config.worktree',
      'echo "* filter=x diff=x merge=x" > .gitattributes; echo x >> src/work.txt',
      'rm .git; echo "gitdir: $S" > .git',
    ]
    p.script({ 'implement-2': `${script.join('\n')}\n${artifact}` })
    expect((await p.tick()).code).toBe(6)
    const { files } = p.state().halt
    for (const key of ['core.fsmonitor', 'filter.x.clean', 'alias.status', 'diff.external', 'include.path']) {
      expect(files).toContain(`tamper:config:${key}`)
    }
    expect(files).toEqual(
      expect.arrayContaining(['tamper:gitfile', 'tamper:hooks/post-checkout', 'tamper:info/attributes']),
    )
    await everyCommand(p)
    await everyCommand(p, { cwd: p.worktree })
    expect(readdirSync(sung)).toEqual([])
  })

  test('a missing object is fetched by no command of the repository’s (S29)', async () => {
    using p = await makeTarget()
    await p.tick()
    const sung = plantCanaries(join(p.root, '.git'), p.home)
    const blob = p.git('-c', 'core.fsmonitor=false', 'rev-parse', 'automaton/nightly:src/work.txt')
    const objects = join(p.root, '.git', 'objects', blob.slice(0, 2))
    chmodSync(join(objects, blob.slice(2)), 0o600)
    writeFileSync(join(objects, blob.slice(2)), '')
    const codes = await everyCommand(p)
    expect(codes.status).toBe(0)
    expect(readdirSync(sung)).toEqual([])
  })
})

test('what a session leaves in the project is run by no approval of another loop (S29, S30)', async () => {
  using p = await makeTarget()
  const id = await haltedLoop(p, 'other')
  const sung = plantCanaries(join(p.root, '.git'), p.home)
  expect((await p.call(['approve', '--loop', 'other', '--halt', id])).code).toBe(0)
  expect((await p.call(['tick', 'other'])).code).not.toBe(1)
  expect(readdirSync(sung)).toEqual([])
})
