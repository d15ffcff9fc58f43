import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { artifact, attack, files, gitCommit, honest, makeTarget } from './kit.ts'

setDefaultTimeout(60_000)

describe('a change out of scope is reported by name', () => {
  test.concurrent('however it lies in git (S15)', async () => {
    const names = [
      'b-committed',
      'c-staged',
      'd-unstaged',
      'f-skip',
      'g-assume',
      'h-uncached',
      'i-undone',
      'j-unstaged',
    ]
    const script = [
      ...['b-committed', 'i-undone'].map((name) => `echo x >> ${name}`),
      `git add b-committed i-undone; ${gitCommit}`,
      'git checkout -q HEAD~1 -- i-undone; git reset -q i-undone; git checkout -q HEAD~1 -- i-undone',
      'echo x >> c-staged; git add c-staged; git show HEAD:c-staged > c-staged',
      'echo x >> d-unstaged',
      'echo x > e-untracked',
      'git update-index --skip-worktree f-skip; echo x >> f-skip',
      'git update-index --assume-unchanged g-assume; echo x >> g-assume',
      'git rm -q --cached h-uncached; echo x >> h-uncached',
      'git update-index --chmod=+x j-unstaged',
      'echo x > k-intent; git add -N k-intent',
    ]
    const all = Object.fromEntries(names.map((name) => [name, 'a\n']))
    using a = await attack(script.join('\n'), { files: { ...files, ...all } })
    expect(a.call.code).toBe(4)
    expect(a.halt.files).toEqual([...names, 'e-untracked', 'k-intent'].sort())
  })

  test.concurrent('whatever became of the file, with both names (S16)', async () => {
    const script = [
      'git mv a-rename src/a-rename',
      'cp b-copy src/b-copy; cp b-copy b-copy2',
      'rm c-delete; chmod +x d-mode',
      'rm e-link; ln -s README.md e-link',
      'rm f-folder; mkdir f-folder; echo x > f-folder/x',
      'rm -r g-file; echo x > g-file',
      `git add -A; ${gitCommit}`,
    ]
    const all = { 'a-rename': '1\n', 'b-copy': '2\n', 'c-delete': '3\n', 'd-mode': '4\n', 'e-link': '5\n' }
    using a = await attack(script.join('\n'), {
      files: { ...files, ...all, 'f-folder': '6\n', 'g-file/x': '7\n' },
    })
    expect(a.call.code).toBe(4)
    const expected = [
      'a-rename',
      'b-copy2',
      'c-delete',
      'd-mode',
      'e-link',
      'f-folder',
      'f-folder/x',
      'g-file',
      'g-file/x',
    ]
    expect(a.halt.files).toEqual(expected)
  })

  test.concurrent('by exactly its name, which nothing that shows it takes for more than text (S17)', async () => {
    const names = [
      'é',
      'e\u0301',
      '"',
      'back\\slash',
      'new\nline',
      'tab\t',
      'space ',
      '-rf',
      ':(glob)x',
      '*',
      '$(id)',
      'a'.repeat(250),
      '\u202egnp.exe',
      '\u001b[31mred',
      '🎉',
    ]
    const script = names.map((name) => `printf x > './${name}'`)
    using a = await attack(script.join('\n'))
    expect(a.call.code).toBe(4)
    expect(a.halt.files.toSorted()).toEqual(names.toSorted())
    for (const args of [
      ['status', 'nightly'],
      ['log', 'nightly'],
      ['check-gate', 'nightly'],
      ['loop-list'],
    ]) {
      const { stdout, stderr } = await a.p.call(args)
      for (const raw of ['\u001b', '\u202e']) expect(stdout + stderr).not.toContain(raw)
    }
    const shown = (await a.p.call(['status', 'nightly'], { env: { COLUMNS: '400' } })).stdout
    expect(shown).toContain('\\x1b[31mred')
    expect(shown).toContain('new\\nline')
  })

  test.concurrent('in a tree that no checkout could hold (S18)', async () => {
    const script = [
      'blob=$(echo evil | git hash-object -w --stdin)',
      'tree=$(printf "100644 blob $blob\\tx\\n" | git mktree)',
      'top=$( (git ls-tree HEAD; printf "040000 tree $tree\\t..\\n040000 tree $tree\\t.GIT\\n040000 tree $tree\\tgit~1\\n") | git mktree)',
      'commit=$(git -c user.name=a -c user.email=a@a commit-tree -p HEAD -m x $top)',
      'git update-ref refs/heads/automaton/nightly $commit',
    ]
    using a = await attack(script.join('\n'))
    expect(a.call.code).toBe(4)
    expect(a.halt.files).toEqual(['../x', '.GIT/x', 'git~1/x'])
    expect((await a.p.call(['approve', '--loop', 'nightly', '--halt', a.halt.id, '--discard'])).code).toBe(0)
    expect(existsSync(join(a.p.loopDir, 'x'))).toBe(false)
  })

  test.concurrent('a protected file in any spelling, inside of the scope too (S9, S19, S45)', async () => {
    const names = [
      'Loop.JSON/.Automaton/x',
      'Agents.MD',
      '.ENV.local',
      'BunFig.toml',
      '.Claude/settings.json',
      '.GITHUB/x',
      'claude.md',
      '.npmrc',
      '.codex/x',
      'OpenCode.json',
    ]
    const script = names.map((name) => `mkdir -p "src/$(dirname ${name})"; echo x > src/${name}`)
    using a = await attack(script.join('\n'))
    expect(a.call.code).toBe(4)
    expect(a.halt.files).toEqual(names.map((name) => `src/${name}`).sort())
  })

  test.concurrent('beside a file that claims an encoding which it is not in (S18)', async () => {
    const claim = 'echo "x.txt working-tree-encoding=UTF-16" > src/.gitattributes; echo no mark >> src/x.txt'
    const honestClaim = { 'src/.gitattributes': 'y.txt working-tree-encoding=UTF-16\n' }
    using a = await attack(`${claim}; echo x > out`, { files: { ...files, ...honestClaim } })
    expect(a.call.code).toBe(4)
    expect(a.halt.files).toEqual(['out', 'src/.gitattributes'])
    const discard = await a.p.call(['approve', '--loop', 'nightly', '--halt', a.halt.id, '--discard'])
    expect(discard.code, discard.stderr).toBe(0)
    expect(existsSync(join(a.p.worktree, 'out'))).toBe(false)
    expect(existsSync(join(a.p.worktree, 'src', 'x.txt'))).toBe(false)
    a.p.script({ implement: `echo no mark >> src/y.txt; ${artifact}` })
    for (const turn of ['first', 'second']) expect((await a.p.tick()).code, turn).toBe(0)
    expect(a.p.git('show', 'automaton/nightly:src/y.txt')).toBe('no mark\nno mark')
  })

  test.concurrent('a link out of the tree, and a folder of the scope that became one (S20)', async () => {
    const script = [
      'ln -s ../../../loop.json src/loop; ln -s "$HOME" src/home; ln -s ../.git src/git',
      'rm -r src/sub; ln -s /tmp src/sub; echo x > src/sub/automaton-attack-$$; rm /tmp/automaton-attack-$$',
    ]
    using a = await attack(script.join('\n'), { files: { ...files, 'src/sub/file': 'x\n' } })
    expect(a.call.code).toBe(4)
    expect(a.halt.files).toEqual(['src/git', 'src/home', 'src/loop', 'src/sub'])
  })

  test.concurrent('another repository, a submodule, and one that .gitmodules hides (S21)', async () => {
    const script = [
      'git init -q src/inner; echo x > src/inner/file',
      'git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),src/link',
      'git init -q src/sub; git -C src/sub -c user.name=a -c user.email=a@a commit -q --allow-empty -m x; git add src/sub',
      'printf \'[submodule "x"]\\n\\tpath = src/sub\\n\\turl = ./x\\n\\tignore = all\\n\' > .gitmodules',
      `git add .gitmodules; ${gitCommit}`,
    ]
    using a = await attack(script.join('\n'), { createArgs: ['--scope', 'src/', '--scope', '.gitmodules'] })
    expect(a.call.code).toBe(4)
    expect(a.halt.files).toEqual(['src/inner', 'src/link', 'src/sub'])
  })

  test.concurrent('what settings of the repository would hide it from git itself (S23)', async () => {
    const settings = [
      'diff.relative true',
      'diff.ignoreSubmodules all',
      'diff.renames copies',
      'status.showUntrackedFiles no',
      'core.quotePath false',
      'diff.noprefix true',
      'core.trustctime false',
      'core.checkStat minimal',
      'diff.orderFile src/order',
    ]
    const script = [
      ...settings.map((setting) => `git config ${setting}`),
      'echo README.md > src/order',
      'echo x >> README.md',
    ]
    using a = await attack(script.join('\n'))
    expect(a.call.code).toBe(4)
    expect(a.halt.files).toEqual(['README.md'])
  })
})

test.concurrent('what a session has ignored by a file of its own reaches no commit (S15)', async () => {
  const script =
    'printf "*\\n" > src/.gitignore; mkdir out; echo "*" > out/.gitignore; echo x > out/file; echo x > src/y'
  using a = await attack(`echo x >> src/work.txt; ${script}`)
  expect(a.call.code).toBe(0)
  expect(a.p.git('diff', '--name-only', 'main', 'automaton/nightly')).toBe('src/work.txt')
})

describe('the person’s own checkout', () => {
  const script = [
    'cd ../../../..',
    'echo x >> README.md; echo x > planted; git update-index --assume-unchanged src/work.txt; echo x >> src/work.txt',
  ].join('\n')

  test.concurrent('is reported when a session edits it by its path (S26)', async () => {
    using p = await makeTarget({ scenario: { implement: `(${script})\n${honest.implement}` } })
    const call = await p.tick('--json')
    expect(call.code).toBe(0)
    const warning = 'the primary checkout changed during a session: README.md, planted, src/work.txt'
    expect(call.json().warnings).toContain(warning)
    expect(JSON.stringify(p.log().at(-1))).toContain(warning)
    expect(p.git('ls-tree', '-r', '--name-only', 'automaton/nightly')).not.toContain('planted')
  })

  test.concurrent('halts the loop that is told to (S26)', async () => {
    using p = await makeTarget({
      loop: { blast_radius: { primary: 'halt' } },
      scenario: { implement: `(${script})\n${honest.implement}` },
    })
    expect((await p.tick()).code).toBe(4)
    expect(p.state().halt).toMatchObject({
      reason: 'drift_detected',
      files: ['README.md', 'planted', 'src/work.txt'],
    })
  })
})

test.concurrent('a hard link to a brake is no way to write it unseen (S20)', async () => {
  using p = await makeTarget()
  p.script({ 'implement-1': `ln ../loop.json src/link\n${honest.implement}` })
  await p.tick()
  const config = readFileSync(join(p.loopDir, 'loop.json'), 'utf8')
  p.script({ 'implement-2': `ln -f ../loop.json src/link; echo " " >> src/link\n${artifact}` })
  expect((await p.tick()).code).toBe(6)
  expect(p.state().halt.detail).toBe('tamper:loop.json')
  writeFileSync(join(p.loopDir, 'loop.json'), config)
})

test.concurrent('repositories inside of the worktree are never the one that automaton works in (S33)', async () => {
  const script = [
    'git init -q --bare src/bare; git worktree add -q --detach src/tree HEAD',
    'git -C src/tree config core.fsmonitor "touch $HOME/canary" 2>/dev/null; git config --file src/bare/config core.fsmonitor "touch $HOME/canary"',
  ]
  using a = await attack(script.join('\n'))
  expect([4, 6]).toContain(a.call.code ?? 0)
  for (const cwd of [join(a.p.worktree, 'src', 'bare'), join(a.p.worktree, 'src', 'tree')]) {
    const call = await a.p.call(['status', '--json'], { cwd, home: a.p.home })
    expect(call.json().project).toBe(realpathSync(a.p.root))
  }
  expect(existsSync(join(a.p.home, 'canary'))).toBe(false)
})
