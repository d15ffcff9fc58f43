import { describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isDangerous } from '../../src/system/dangerous-settings.ts'
import { compareRepository, recordRepository, type WatchOptions } from '../../src/system/tripwire.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import {
  addLoop,
  branch,
  hostileAttributes,
  type LoopFixture,
  makeCanary,
  makeLoop,
  plant,
} from './fixtures.ts'

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

/** Main with a commit that nobody made on a branch. */
const loneCommit = (folder: string) => git(folder, 'commit-tree', '-p', 'main', '-m', 'lone', 'main^{tree}')

function submodule(root: string, name: string): void {
  const source = makeRepo(join(root, '..', `source-${name}`))
  git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, name)
  git(root, 'commit', '-qm', name)
}

describe('the base branch, checked out where people work', () => {
  const moves: [string, (loop: LoopFixture) => void][] = [
    ['an amended commit', ({ root }) => git(root, 'commit', '-q', '--amend', '-m', 'other words')],
    ['a reset', ({ root }) => git(root, 'reset', '-q', '--hard', 'HEAD~1')],
    [
      'update-ref in their checkout',
      ({ root }) => git(root, 'update-ref', 'refs/heads/main', loneCommit(root)),
    ],
    [
      'a merge, and a checkout of another branch in between',
      ({ root }) => {
        git(root, 'switch', '-qc', 'other', 'HEAD~1')
        commit(root, 'other.txt')
        git(root, 'switch', '-q', 'main')
        git(root, 'merge', '-q', '-m', 'merge', 'other')
        git(root, 'checkout', '-q', 'HEAD~1')
        git(root, 'switch', '-q', 'main')
      },
    ],
    [
      'a rebase',
      ({ root }) => {
        git(root, 'switch', '-qc', 'other', 'HEAD~1')
        commit(root, 'other.txt')
        git(root, 'switch', '-q', 'main')
        git(root, 'rebase', '-q', 'other')
      },
    ],
    [
      'a pull',
      ({ root }) => {
        const clone = `${root}.clone`
        git(root, 'clone', '-q', root, clone)
        commit(clone, 'pulled.txt')
        git(root, 'pull', '-q', '--ff-only', clone, 'main')
      },
    ],
    [
      'a push into it',
      ({ root }) => {
        const clone = `${root}.clone`
        git(root, 'clone', '-q', root, clone)
        commit(clone, 'pushed.txt')
        git(clone, 'push', '-q', root, 'main')
      },
    ],
    [
      'a log whose old lines have gone',
      ({ root }) => {
        commit(root, 'new.txt')
        const log = join(root, '.git/logs/HEAD')
        writeFileSync(log, readFileSync(log, 'utf8').trimEnd().split('\n').slice(-1).join('\n'))
      },
    ],
    [
      'a fetch into it from another branch',
      ({ root }) => {
        git(root, 'switch', '-qc', 'other')
        git(root, 'branch', '-f', 'main', loneCommit(root))
      },
    ],
    [
      'a checkout somewhere else that was made meanwhile',
      ({ root }) => {
        git(root, 'switch', '-qc', 'other')
        git(root, 'worktree', 'add', '-q', `${root}.main`, 'main')
        commit(`${root}.main`, 'there.txt')
      },
    ],
  ]
  const before = ({ root }: LoopFixture) => {
    git(root, 'config', 'receive.denyCurrentBranch', 'updateInstead')
    commit(root, 'second.txt')
  }
  test.each(moves)('is the person\u2019s to move: %s', async (_, act) => {
    expect(await findings(act, {}, before)).toEqual([])
  })

  test('is nobody else\u2019s: a commit out of thin air, and a step back', async () => {
    const move = ({ worktree }: LoopFixture) =>
      git(worktree, 'update-ref', 'refs/heads/main', loneCommit(worktree))
    const back = ({ worktree }: LoopFixture) => git(worktree, 'update-ref', 'refs/heads/main', 'main~1')
    expect(await findings(move, {}, before)).toEqual(['base-branch'])
    expect(await findings(back, {}, before)).toEqual(['base-branch'])
    const ownCheckout = ({ root, worktree }: LoopFixture) => {
      git(worktree, 'worktree', 'add', '-q', '--force', `${root}.mine`, 'main')
      commit(`${root}.mine`, 'mine.txt')
    }
    expect(await findings(ownCheckout, {}, before)).toEqual(['base-branch'])
    const emptied = (loop: LoopFixture) => {
      move(loop)
      writeFileSync(join(loop.root, '.git/logs/HEAD'), '')
    }
    expect(await findings(emptied, {}, before)).toEqual(['base-branch'])
  })

  test('nor in a worktree of theirs; where no log is kept, nothing is concluded', async () => {
    const elsewhere = ({ root }: LoopFixture) => {
      git(root, 'switch', '-qc', 'other')
      git(root, 'worktree', 'add', '-q', `${root}.main`, 'main')
    }
    const move = ({ worktree }: LoopFixture) =>
      git(worktree, 'update-ref', 'refs/heads/main', loneCommit(worktree))
    expect(await findings(move, {}, elsewhere)).toEqual(['base-branch'])
    expect(await findings(({ root }) => commit(`${root}.main`, 'b.txt'), {}, elsewhere)).toEqual([])
    expect(
      await findings(move, {}, ({ root }) => rmSync(join(root, '.git/logs'), { recursive: true })),
    ).toEqual([])
  })
})

describe('git folders beside the repository\u2019s own', () => {
  const before = ({ root }: LoopFixture) => {
    submodule(root, 'lib/one')
    git(root, 'worktree', 'add', '-q', '-b', 'side', `${root}.side`)
  }
  test.each<[string, string, string]>([
    ['modules/lib/one/config', 'modules/lib/one/config', '[core]\n\tfsmonitor = x\n'],
    ['modules/lib/one/config', 'modules/lib/one/config', '[core]\n\tworktree = /tmp\n'],
    ['modules/lib/one/hooks/post-checkout', 'modules/lib/one/hooks/post-checkout', '#!/bin/sh\n'],
    ['worktrees/r.side/config.worktree', 'worktrees/r.side/config.worktree', '[core]\n\thooksPath = x\n'],
    ['worktrees/r.side/commondir', 'worktrees/r.side/commondir', '/tmp\n'],
    ['modules', 'modules/lib/one/config', '[core\n'],
    ['config:core.sshcommand', 'config.worktree', '[core]\n\tsshCommand = x\n'],
  ])('are watched: %s', async (what, file, text) => {
    const act = ({ root }: LoopFixture) => {
      mkdirSync(join(root, '.git/modules/lib/one/hooks'), { recursive: true })
      appendFileSync(join(root, '.git', file), text)
    }
    expect(await findings(act, {}, before)).toEqual([what])
  })

  test('come and go with submodules and worktrees, and people work in them', async () => {
    const act = ({ root }: LoopFixture) => {
      git(join(root, 'lib/one'), 'switch', '-qc', 'topic')
      commit(join(root, 'lib/one'), 'in-it.txt')
      git(join(root, 'lib/one'), 'config', 'branch.topic.remote', 'origin')
      git(root, 'worktree', 'remove', `${root}.side`)
      git(root, 'worktree', 'add', '-q', '-b', 'new', `${root}.new`)
      writeFileSync(join(root, '.git/worktrees/r.new/config.worktree'), '[core]\n\tsparseCheckout = true\n')
      // Names in the repository's own configuration halt: they are addresses.
      submodule(root, 'two')
      writeFiles(join(root, '.git/modules/two/hooks'), { 'post-checkout': '#!/bin/sh\n' })
      git(root, '-C', 'lib/one', 'config', '--unset', 'core.worktree')
    }
    expect(await findings(act, {}, before)).toEqual(['config:submodule.two.url'])
  })
})

describe('the end of a history', () => {
  const shallow = (root: string) => join(root, '.git/shallow')

  test('is a finding where what lies behind it is there', async () => {
    const cut = ({ root }: LoopFixture) => writeFileSync(shallow(root), `${git(root, 'rev-parse', 'main')}\n`)
    const second = ({ root }: LoopFixture) => commit(root, 'second.txt')
    expect(await findings(cut, {}, second)).toEqual(['shallow'])
    expect(await findings(({ root }) => mkdirSync(shallow(root)))).toEqual(['shallow'])
  })

  test('moves as people fetch in a shallow clone', async () => {
    using dir = tempDir()
    const source = makeRepo(join(dir.path, 'source'), { 'a.txt': 'a\n' })
    for (const name of ['b', 'c', 'd', 'e']) commit(source, name)
    git(dir.path, 'clone', '-q', '--depth', '2', `file://${source}`, 'r')
    const loop = await addLoop(join(dir.path, 'r'))
    const options = {
      repo: loop.repo,
      worktree: loop.worktree,
      branch,
      baseBranch: 'main',
      verified: loop.base,
    }
    for (const depth of [['--deepen', '1'], ['--depth', '1'], ['--unshallow']]) {
      if (depth[0] === '--depth') {
        commit(source, 'f')
        commit(source, 'g')
        commit(source, 'h')
      }
      const first = await recordRepository(options)
      git(loop.root, 'fetch', '-q', ...depth)
      const found = await compareRepository(first, await recordRepository(options), options)
      expect(found).toEqual([])
      expect(JSON.parse(JSON.stringify(first)).shallow).toMatch(/^[0-9a-f ]+$/)
    }
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
    ['gc.pruneExpire', 'now'],
    ['gc.main.reflogExpire', 'now'],
    ['core.logAllRefUpdates', 'false'],
    ['fetch.prune', 'true'],
    ['lfs.extension.x.clean', 'x'],
    ['lfs.extension.x.smudge', 'x'],
    ['receive.denyCurrentBranch', 'ignore'],
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
