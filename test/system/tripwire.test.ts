import { describe, expect, test } from 'bun:test'
import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDangerous } from '../../src/system/dangerous-settings.ts'
import { compareRepository, recordRepository, type WatchOptions } from '../../src/system/tripwire.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { branch, hostileAttributes, type LoopFixture, makeCanary, makeLoop, plant } from './fixtures.ts'

/** The loop's branch is one automaton commit ahead of main, as after a tick. */
async function worked(dir: string): Promise<LoopFixture & { verified: string }> {
  const loop = await makeLoop(join(dir, 'r'), { 'a.txt': 'a\n' })
  return { ...loop, verified: commit(loop.worktree, 'tick.txt') }
}

function commit(folder: string, file: string): string {
  writeFiles(folder, { [file]: `${file}\n` })
  git(folder, 'add', file)
  git(folder, 'commit', '-qm', file)
  return git(folder, 'rev-parse', 'HEAD')
}

async function findings(
  act: (loop: LoopFixture & { verified: string }) => void,
  extra: Partial<WatchOptions> = {},
  before: (loop: LoopFixture) => void = () => {},
): Promise<string[]> {
  using dir = tempDir()
  const loop = await worked(dir.path)
  before(loop)
  const { repo, worktree, verified } = loop
  const options = { repo, worktree, branch, baseBranch: 'main', verified, ...extra }
  const first = JSON.parse(JSON.stringify(await recordRepository(options)))
  act(loop)
  return await compareRepository(first, await recordRepository(options), options)
}

describe('no finding', () => {
  test('when nothing happened, and when a session committed on its branch', async () => {
    expect(await findings(() => {})).toEqual([])
    expect(await findings(({ worktree }) => commit(worktree, 'b.txt'))).toEqual([])
  })

  test('when people commit, branch, tag, stash, push, rename themselves and edit files', async () => {
    const act = ({ root }: LoopFixture) => {
      commit(root, 'person.txt')
      git(root, 'tag', '-a', 'v1', '-m', 'one')
      git(root, 'branch', 'feature')
      git(root, 'config', 'user.name', 'Somebody Else')
      git(root, 'config', 'branch.feature.remote', 'origin')
      git(root, 'config', 'branch.feature.merge', 'refs/heads/feature')
      writeFiles(root, { 'a.txt': 'edited\n' })
      git(root, 'stash')
      git(root, 'switch', '-qc', 'other')
      commit(root, 'more.txt')
      git(root, 'gc', '-q')
      git(root, 'pack-refs', '--all')
    }
    expect(await findings(act)).toEqual([])
  })

  test('when people merge what was verified, while a session commits more', async () => {
    const act = ({ root, worktree, verified }: LoopFixture & { verified: string }) => {
      commit(worktree, 'b.txt')
      commit(root, 'person.txt')
      git(root, 'merge', '-q', '-m', 'merge', verified)
    }
    expect(await findings(act)).toEqual([])
  })

  test('when the session merged what people committed to main', async () => {
    const act = ({ root, worktree }: LoopFixture) => {
      commit(root, 'person.txt')
      commit(worktree, 'b.txt')
      git(worktree, 'merge', '-q', '-m', 'merge main', 'main')
    }
    expect(await findings(act)).toEqual([])
  })
})

describe('a finding', () => {
  test('when HEAD left the branch', async () => {
    expect(await findings(({ worktree }) => git(worktree, 'switch', '-qc', 'mine'))).toEqual(['head'])
    expect(await findings(({ worktree }) => git(worktree, 'checkout', '-q', '--detach'))).toEqual(['head'])
  })

  test('when the branch no longer descends from the last verified commit, or is gone', async () => {
    expect(await findings(({ worktree }) => git(worktree, 'reset', '-q', '--hard', 'HEAD~1'))).toEqual([
      'branch',
    ])
    const orphan = ({ worktree }: LoopFixture) => {
      const lone = git(worktree, 'commit-tree', '-m', 'lone', 'HEAD^{tree}')
      git(worktree, 'reset', '-q', '--hard', lone)
    }
    expect(await findings(orphan)).toEqual(['branch'])
    const drop = ({ worktree }: LoopFixture) => git(worktree, 'update-ref', '-d', `refs/heads/${branch}`)
    expect(await findings(drop)).toEqual(['branch'])
  })

  test('when main was moved to the session\u2019s commits', async () => {
    const move = ({ worktree }: LoopFixture) => {
      commit(worktree, 'b.txt')
      git(worktree, 'update-ref', 'refs/heads/main', 'HEAD')
    }
    expect(await findings(move)).toEqual(['base-branch'])
  })

  test('when the session committed on main itself and came back', async () => {
    const onMain = ({ worktree }: LoopFixture) => {
      git(worktree, 'checkout', '-q', '--ignore-other-worktrees', 'main')
      commit(worktree, 'sneaky.txt')
      git(worktree, 'checkout', '-q', branch)
    }
    expect(await findings(onMain)).toEqual(['base-branch'])
  })

  test('when main is gone', async () => {
    const drop = ({ worktree }: LoopFixture) => git(worktree, 'update-ref', '-d', 'refs/heads/main')
    expect(await findings(drop)).toEqual(['base-branch'])
  })

  test('when a commit was replaced', async () => {
    const act = ({ worktree, base }: LoopFixture) => git(worktree, 'replace', '-f', base, 'HEAD')
    expect(await findings(act)).toEqual(['refs/replace'])
  })

  test('when another loop\u2019s branch moved, unless that loop moved it', async () => {
    const other = 'refs/heads/automaton/other'
    const before = ({ root }: LoopFixture) => git(root, 'update-ref', other, 'main')
    const own = ({ root }: LoopFixture) =>
      git(root, 'update-ref', other, git(root, 'commit-tree', '-p', other, '-m', 'x', 'main^{tree}'))
    expect(await findings(own, {}, before)).toEqual([other])
    expect(await findings(own, { busyLoops: ['other'] }, before)).toEqual([])
    const steal = ({ worktree }: LoopFixture) => {
      commit(worktree, 'b.txt')
      git(worktree, 'update-ref', other, 'HEAD')
    }
    expect(await findings(steal, { busyLoops: ['other'] }, before)).toEqual([other])
  })

  test('when a kept ref moved', async () => {
    const kept = 'refs/automaton/kept/nightly/1'
    const before = ({ root }: LoopFixture) => git(root, 'update-ref', kept, 'main')
    expect(await findings(({ root }) => git(root, 'update-ref', '-d', kept), {}, before)).toEqual([kept])
  })

  test.each([
    ['core.hooksPath', '/tmp/x'],
    ['core.fsmonitor', 'x'],
    ['core.worktree', '/tmp'],
    ['core.fileMode', 'false'],
    ['filter.x.clean', 'x'],
    ['filter.x.process', 'x'],
    ['diff.x.textconv', 'x'],
    ['diff.external', 'x'],
    ['merge.x.driver', 'x'],
    ['alias.st', '!x'],
    ['include.path', 'evil'],
    ['includeIf.gitdir:/x/.path', 'evil'],
    ['credential.helper', 'x'],
    ['gpg.program', 'x'],
    ['url.ssh://x/.insteadOf', 'https://y/'],
    ['remote.origin.url', 'ext::x'],
    ['remote.origin.pushurl', 'x'],
    ['branch.main.remote', 'ext::sh -c x'],
    ['branch.main.pushRemote', 'x'],
    ['extensions.partialClone', 'x'],
    ['protocol.ext.allow', 'always'],
    ['hook.x.command', 'x'],
    ['http.proxy', 'x'],
  ])('when %s was set', async (key, value) => {
    const found = await findings(({ root }) => appendFileSync(join(root, '.git/config'), section(key, value)))
    const shown = key.split('.')
    shown[0] = shown[0]?.toLowerCase() ?? ''
    shown.push(shown.pop()?.toLowerCase() ?? '')
    expect(found).toEqual([`config:${shown.join('.')}`])
  })

  test('when an included file changed, or a worktree configuration came up', async () => {
    const before = ({ root }: LoopFixture) => {
      git(root, 'config', 'include.path', '../more.cfg')
      writeFiles(root, { 'more.cfg': '[user]\n\tname = x\n' })
    }
    const include = ({ root }: LoopFixture) =>
      appendFileSync(join(root, 'more.cfg'), '[core]\n\tfsmonitor = x\n')
    expect(await findings(include, {}, before)).toEqual(['config:core.fsmonitor'])
    const own = ({ root }: LoopFixture) =>
      writeFileSync(join(root, '.git/worktrees/worktree/config.worktree'), '[core]\n\thooksPath = x\n')
    expect(await findings(own)).toEqual(['config:core.hookspath'])
  })

  test('when the configuration cannot be read any more', async () => {
    const spoil = ({ root }: LoopFixture) => appendFileSync(join(root, '.git/config'), '[core\n')
    const found = await findings(spoil)
    expect(found).toContain('config')
  })

  test.each<[string, (git: string) => void]>([
    ['hooks/pre-commit', (dir) => writeFileSync(join(dir, 'hooks/pre-commit'), '#!/bin/sh\n')],
    ['hooks/update.sample', (dir) => chmodSync(join(dir, 'hooks/update.sample'), 0o600)],
    ['info/attributes', (dir) => writeFileSync(join(dir, 'info/attributes'), '* filter=x\n')],
    ['info/exclude', (dir) => appendFileSync(join(dir, 'info/exclude'), 'x\n')],
    ['info/grafts', (dir) => writeFileSync(join(dir, 'info/grafts'), '')],
    ['objects/info/alternates', (dir) => writeFileSync(join(dir, 'objects/info/alternates'), '')],
    [
      'worktree/commondir',
      (dir) => writeFileSync(join(dir, 'worktrees/worktree/commondir'), '../../../.git\n'),
    ],
  ])('when %s changed', async (name, act) => {
    const found = await findings(
      ({ root }) => act(join(root, '.git')),
      {},
      ({ root }) => {
        mkdirSync(join(root, '.git/hooks'), { recursive: true })
        writeFileSync(join(root, '.git/hooks/update.sample'), 'x')
      },
    )
    expect(found).toEqual([name])
  })

  test('when a hook became a link, and when the worktree\u2019s .git was rewritten or removed', async () => {
    const link = ({ root }: LoopFixture) => {
      mkdirSync(join(root, '.git/hooks'), { recursive: true })
      symlinkSync('/bin/true', join(root, '.git/hooks/post-merge'))
    }
    expect(await findings(link)).toEqual(['hooks/post-merge'])
    expect(await findings(({ worktree }) => writeFileSync(join(worktree, '.git'), 'gitdir: /x\n'))).toEqual([
      'gitfile',
    ])
    expect(await findings(({ worktree }) => rmSync(join(worktree, '.git')))).toEqual(['gitfile'])
  })
})

test('in the primary checkout HEAD and branches are the person\u2019s', async () => {
  const act = ({ root }: LoopFixture) => {
    git(root, 'switch', '-qc', 'elsewhere')
    commit(root, 'b.txt')
    git(root, 'branch', '-f', 'main', 'HEAD')
    git(root, 'config', 'core.hooksPath', 'x')
  }
  expect(await findings(act, { worktree: null })).toEqual(['config:core.hookspath'])
})

test('settings that only name or format something are not dangerous', () => {
  const harmless = [
    'user.name',
    'user.email',
    'color.ui',
    'branch.x.merge',
    'branch.x.rebase',
    'push.default',
    'core.eol',
  ]
  expect(harmless.filter((key) => isDangerous(key, 'x'))).toEqual([])
  expect(isDangerous('branch.x.remote', 'origin')).toBe(false)
})

test('nothing that a session planted runs', async () => {
  using dir = tempDir()
  const canary = makeCanary(join(dir.path, 'canary'))
  const root = join(dir.path, 'r')
  const loop = await makeLoop(root, { '.gitattributes': hostileAttributes, 'a.txt': 'a\n' })
  const options = {
    repo: loop.repo,
    worktree: loop.worktree,
    branch,
    baseBranch: 'main',
    verified: loop.base,
  }
  const before = await recordRepository(options)
  commit(loop.worktree, 'b.txt')
  git(loop.worktree, 'update-ref', 'refs/heads/main', 'HEAD')
  plant(root, canary)
  // A missing object would be fetched, and a fetch runs what the remote names.
  writeFileSync(join(root, '.git/refs/heads/automaton/other'), `${'e'.repeat(40)}\n`)
  makeRepo(join(loop.worktree, 'nested'))
  const found = await compareRepository(before, await recordRepository(options), options)
  expect(found).toContain('base-branch')
  expect(found).toContain('refs/heads/automaton/other')
  expect(found).toContain('config:alias.evil')
  expect(found).toContain('hooks/reference-transaction')
  expect(canary.marks()).toBe('')
})

function section(key: string, value: string): string {
  const first = key.slice(0, key.indexOf('.'))
  const name = key.slice(key.lastIndexOf('.') + 1)
  const middle = key.slice(first.length + 1, -name.length - 1)
  return `[${first}${middle ? ` "${middle}"` : ''}]\n\t${name} = ${value}\n`
}
