import { describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { changesBetween, diffText, driftOf } from '../../src/system/drift.ts'
import { snapshot } from '../../src/system/snapshot.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import {
  addLoop,
  hostileAttributes,
  type LoopFixture,
  makeCanary,
  makeLoop,
  plant,
  repositoryOf,
} from './fixtures.ts'

const files = {
  'src/in.txt': 'in\n',
  'out.txt': 'out\n',
  'tool.sh': '#!/bin/sh\n',
  'docs/old name.md': 'text\n',
}

/** The names out of scope after something was done in a fresh worktree whose scope is `src/`. */
async function outAfter(act: (loop: LoopFixture) => void, scope = ['src/']): Promise<string[]> {
  using dir = tempDir()
  const loop = await makeLoop(join(dir.path, 'r'), files)
  act(loop)
  const { repo, worktree, base } = loop
  await using drift = await driftOf({ repo, worktree, base, fileScope: scope, persist: false })
  return drift.outOfScope
}

function commit(worktree: string): void {
  git(worktree, 'add', '-A')
  git(worktree, 'commit', '-qm', 'session')
}

describe('driftOf finds out of scope', () => {
  test('nothing, when nothing or only the scope changed', async () => {
    expect(await outAfter(() => {})).toEqual([])
    expect(await outAfter(({ worktree }) => writeFiles(worktree, { 'src/new.txt': 'n\n' }))).toEqual([])
  })

  test('a committed file, also when it was taken back on the disk', async () => {
    const edit = ({ worktree }: LoopFixture) => {
      writeFiles(worktree, { 'out.txt': 'changed\n' })
      commit(worktree)
    }
    expect(await outAfter(edit)).toEqual(['out.txt'])
    const hide = (loop: LoopFixture) => {
      edit(loop)
      writeFiles(loop.worktree, { 'out.txt': 'out\n' })
    }
    expect(await outAfter(hide)).toEqual(['out.txt'])
  })

  test('a staged file, also when it is only in the index', async () => {
    const stage = ({ worktree }: LoopFixture) => {
      writeFiles(worktree, { 'staged.txt': 's\n' })
      git(worktree, 'add', 'staged.txt')
    }
    expect(await outAfter(stage)).toEqual(['staged.txt'])
    const hide = (loop: LoopFixture) => {
      stage(loop)
      rmSync(join(loop.worktree, 'staged.txt'))
    }
    expect(await outAfter(hide)).toEqual(['staged.txt'])
  })

  test('an unstaged, an untracked and an intent-to-add file', async () => {
    const act = ({ worktree }: LoopFixture) => {
      writeFiles(worktree, { 'out.txt': 'changed\n', 'new.txt': 'n\n', 'later.txt': 'l\n' })
      git(worktree, 'add', '-N', 'later.txt')
    }
    expect(await outAfter(act)).toEqual(['later.txt', 'new.txt', 'out.txt'])
  })

  test('both names of a rename, into the scope and within a commit', async () => {
    const act = ({ worktree }: LoopFixture) =>
      renameSync(join(worktree, 'out.txt'), join(worktree, 'src/out.txt'))
    expect(await outAfter(act)).toEqual(['out.txt'])
    const move = ({ worktree }: LoopFixture) => {
      git(worktree, 'mv', 'docs/old name.md', 'docs/new name.md')
      commit(worktree)
    }
    expect(await outAfter(move)).toEqual(['docs/new name.md', 'docs/old name.md'])
  })

  test('a deleted file, a changed mode and a changed type', async () => {
    const act = ({ worktree }: LoopFixture) => {
      rmSync(join(worktree, 'docs/old name.md'))
      chmodSync(join(worktree, 'out.txt'), 0o755)
      rmSync(join(worktree, 'tool.sh'))
      symlinkSync('out.txt', join(worktree, 'tool.sh'))
    }
    expect(await outAfter(act)).toEqual(['docs/old name.md', 'out.txt', 'tool.sh'])
  })

  test('a mode change although core.fileMode is off in a repository that had it on', async () => {
    const act = ({ worktree, root }: LoopFixture) => {
      chmodSync(join(worktree, 'out.txt'), 0o755)
      commit(worktree)
      git(root, 'config', 'core.fileMode', 'false')
    }
    expect(await outAfter(act)).toEqual(['out.txt'])
  })

  test('a link that leads out of the tree, even inside the scope', async () => {
    const act = ({ worktree }: LoopFixture) => {
      symlinkSync('../../../outside', join(worktree, 'src/away'))
      symlinkSync('in.txt', join(worktree, 'src/near'))
    }
    expect(await outAfter(act)).toEqual(['src/away'])
  })

  test('a repository inside the worktree: with a commit, without one, and over tracked files', async () => {
    const act = ({ worktree }: LoopFixture) => {
      makeRepo(join(worktree, 'src/nested'))
      git(worktree, 'init', '-q', 'src/unborn')
      git(worktree, 'init', '-q', 'docs')
    }
    expect(await outAfter(act)).toEqual(['docs', 'docs/old name.md', 'src/nested', 'src/unborn'])
  })

  test('a submodule that moved, although .gitmodules says to ignore it', async () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'), {
      '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = all\n',
    })
    git(root, 'update-index', '--add', '--cacheinfo', `160000,${git(root, 'rev-parse', 'HEAD')},sub`)
    git(root, 'commit', '-qm', 'submodule')
    const { repo, worktree, base } = await addLoop(root)
    expect(git(worktree, 'status', '--porcelain')).toBe('')
    git(worktree, 'update-index', '--cacheinfo', `160000,${base},sub`)
    git(worktree, 'commit', '-qm', 'moved')
    await using drift = await driftOf({ repo, worktree, base, fileScope: [], persist: false })
    expect(drift.outOfScope).toEqual(['sub'])
  })

  test('files that are hidden by skip-worktree, assume-unchanged, info/exclude and split indexes', async () => {
    const act = ({ worktree, root }: LoopFixture) => {
      git(worktree, 'update-index', '--skip-worktree', 'out.txt')
      git(worktree, 'update-index', '--assume-unchanged', 'tool.sh')
      git(worktree, 'update-index', '--split-index')
      appendFileSync(join(root, '.git/info/exclude'), 'hidden.txt\n')
      writeFiles(worktree, { 'out.txt': 'changed\n', 'tool.sh': 'changed\n', 'hidden.txt': 'h\n' })
    }
    expect(await outAfter(act)).toEqual(['hidden.txt', 'out.txt', 'tool.sh'])
  })

  test('ignored files with a protected name, and ignored files that were staged by force', async () => {
    const act = ({ worktree }: LoopFixture) => {
      writeFiles(worktree, { 'src/.gitignore': '*.secret\n' })
      writeFiles(worktree, { '.env': 'x\n', 'src/a.secret': 'x\n' })
      git(worktree, 'add', '-f', 'src/a.secret')
    }
    expect(await outAfter(act, ['src/*.txt'])).toEqual(['.env', 'src/.gitignore', 'src/a.secret'])
  })

  test('what differs from the recorded base, although main moved and the commits were replaced', async () => {
    const act = ({ worktree, base }: LoopFixture) => {
      writeFiles(worktree, { 'out.txt': 'changed\n' })
      commit(worktree)
      git(worktree, 'update-ref', 'refs/heads/main', 'HEAD')
      git(worktree, 'replace', '-f', base, 'HEAD')
    }
    expect(await outAfter(act)).toEqual(['out.txt'])
  })

  test('names of every kind, each once and as it is', async () => {
    const nfc = 'caf\u00e9.txt'
    const nfd = 'cafe\u0301.txt'
    const odd = [
      'a b',
      'q"uote\'s',
      'new\nline',
      nfc,
      nfd,
      '\u{1f680}',
      '-dash',
      ':(glob)x',
      'tab\t',
      'back\\slash',
      ' end ',
    ]
    const act = ({ worktree }: LoopFixture) => {
      for (const name of odd) writeFileSync(join(worktree, name), 'x')
      writeFileSync(Buffer.concat([Buffer.from(`${worktree}/b`), Buffer.from([0xff, 0x80])]), 'x')
    }
    expect(await outAfter(act)).toEqual([...odd, 'b\\xff\\x80'].sort())
  })

  test('nothing in a project below the toplevel, but what is beside it', async () => {
    using dir = tempDir()
    const { worktree, base, root } = await makeLoop(join(dir.path, 'r'), {
      'packages/app/src/a.txt': 'a\n',
      'b.txt': 'b\n',
    })
    writeFiles(worktree, { 'packages/app/src/a.txt': 'changed\n', 'src/c.txt': 'c\n' })
    const repo = repositoryOf(join(root, 'packages/app'))
    await using drift = await driftOf({ repo, worktree, base, fileScope: ['src/'] })
    expect(drift.outOfScope).toEqual(['src/c.txt'])
    expect(drift.changes.map((change) => change.path)).toEqual(['packages/app/src/a.txt', 'src/c.txt'])
  })
})

test('a failing git is never "no drift"', async () => {
  using dir = tempDir()
  const { repo, worktree } = await makeLoop(join(dir.path, 'r'), files)
  const drift = driftOf({ repo, worktree, base: 'f'.repeat(40), fileScope: [] })
  await expect(drift).rejects.toThrow('git failed')
})

test('in the primary checkout only what changed since the record is drift', async () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'), files)
  const repo = repositoryOf(root)
  writeFiles(root, { 'out.txt': 'a person was here\n', 'mine.txt': 'm\n' })
  git(root, 'add', 'mine.txt')
  await using before = await snapshot({ repo, worktree: root, persist: true })
  await using same = await driftOf({ repo, worktree: root, base: before.tree, fileScope: ['src/'] })
  expect(same.outOfScope).toEqual([])
  writeFiles(root, { 'mine.txt': 'changed\n', 'src/in.txt': 'changed\n' })
  await using after = await driftOf({ repo, worktree: root, base: before.tree, fileScope: ['src/'] })
  expect(after.outOfScope).toEqual(['mine.txt'])
})

test('changesBetween tells modes and where links lead', async () => {
  using dir = tempDir()
  const { repo, worktree, base } = await makeLoop(join(dir.path, 'r'), files)
  symlinkSync('sp ace/é', join(worktree, 'link'))
  rmSync(join(worktree, 'out.txt'))
  await using now = await snapshot({ repo, worktree, persist: false })
  expect(await changesBetween({ repo, from: base, to: now.tree, place: now.place })).toEqual([
    { path: 'link', oldMode: '000000', newMode: '120000', linkTarget: 'sp ace/é' },
    { path: 'out.txt', oldMode: '100644', newMode: '000000', linkTarget: null },
  ])
})

test('diffText shows the changes, names binary files, and says when it was cut', async () => {
  using dir = tempDir()
  const { repo, worktree, base } = await makeLoop(join(dir.path, 'r'), files)
  writeFiles(worktree, { 'out.txt': 'changed é\n' })
  writeFileSync(join(worktree, 'bin.dat'), Buffer.from([0, 1, 2]))
  await using now = await snapshot({ repo, worktree, persist: true })
  const text = await diffText({ repo, from: base, to: now.tree, maxBytes: 1 << 20 })
  expect(text).toContain('-out\n+changed é\n')
  expect(text).toContain('Binary files /dev/null and b/bin.dat differ')
  const cut = await diffText({ repo, from: base, to: now.tree, maxBytes: 200 })
  expect(cut).toEndWith(']\n')
  expect(cut).toMatch(/\n\[the diff is longer; cut here after \d+ bytes\]\n$/)
  expect(text.startsWith(cut.slice(0, cut.lastIndexOf('[the diff')))).toBe(true)
})

test('nothing that a session planted runs, and no object is fetched', async () => {
  using dir = tempDir()
  const canary = makeCanary(join(dir.path, 'canary'))
  const { repo, root, worktree, base } = await makeLoop(join(dir.path, 'r'), {
    ...files,
    '.gitattributes': hostileAttributes,
  })
  writeFiles(worktree, { 'out.txt': 'changed\n' })
  commit(worktree)
  plant(root, canary)
  const gitFile = readFileSync(join(worktree, '.git'), 'utf8')
  writeFileSync(join(worktree, '.git'), `gitdir: ${join(makeRepo(join(dir.path, 'evil')), '.git')}\n`)
  plant(join(dir.path, 'evil'), canary)
  await using drift = await driftOf({ repo, worktree, base, fileScope: ['src/'] })
  expect(drift.outOfScope).toEqual(['out.txt'])
  expect(await diffText({ repo, from: base, to: drift.tree, maxBytes: 1 << 20 })).toContain('+changed')
  const missing = changesBetween({ repo, from: base, to: 'e'.repeat(40) })
  await expect(missing).rejects.toThrow('git failed')
  expect(canary.marks()).toBe('')
  expect(lstatSync(join(worktree, '.git')).size).not.toBe(gitFile.length)
})
