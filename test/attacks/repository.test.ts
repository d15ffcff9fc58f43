import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { makeRepo, writeFiles } from '../helpers/repo.ts'
import { artifact, attack, files, gitCommit, honest, makeTarget } from './kit.ts'

setDefaultTimeout(60_000)

const inGit = 'G=$(git rev-parse --git-common-dir)'

/** A project with one verified tick; main has moved on since, out of the loop's scope. The second session attacks. */
async function secondTick(script: string) {
  const p = await makeTarget({ files, createArgs: ['--scope', 'src/'] })
  await p.tick()
  writeFiles(p.root, { 'README.md': '# test, moved on\n' })
  p.git('commit', '-qam', 'second')
  p.script({ 'implement-2': `${script}\n${artifact}` })
  const call = await p.tick()
  return { p, call, halt: p.state().halt }
}

describe('a change of what automaton measures by is tampering', () => {
  test.concurrent('files that steer git, each by name (S14, S23)', async () => {
    const script = [
      inGit,
      'echo "$(git rev-parse HEAD)" > $G/info/grafts',
      'mkdir -p $G/objects/info $AUTOMATON_OUTPUT.store; echo $AUTOMATON_OUTPUT.store > $G/objects/info/alternates',
      'echo "* -diff" > $G/info/attributes',
      ...[
        'core.worktree /tmp',
        'core.ignoreCase true',
        'core.excludesFile /tmp/x',
        'core.hooksPath /tmp',
        'extensions.worktreeConfig true',
        'include.path x',
        'submodule.recurse true',
        'gc.pruneExpire now',
        'gc.reflogExpire now',
        'lfs.extension.x.clean x',
      ].map((setting) => `git config --file $G/config ${setting}`),
    ]
    using a = await attack(script.join('\n'))
    expect(a.call.code).toBe(6)
    const names = [
      'config:core.excludesfile',
      'config:core.hookspath',
      'config:core.ignorecase',
      'config:core.worktree',
      'config:extensions.worktreeconfig',
      'config:gc.pruneexpire',
      'config:gc.reflogexpire',
      'config:include.path',
      'config:lfs.extension.x.clean',
      'config:submodule.recurse',
      'info/attributes',
      'info/grafts',
      'objects/info/alternates',
    ]
    expect(a.halt.files).toEqual(names.map((name) => `tamper:${name}`))
  })

  const cases: [name: string, script: string, what: string][] = [
    ['the base branch deleted (S13)', 'git update-ref -d refs/heads/main', 'base-branch'],
    [
      'the base branch moved in packed-refs (S13)',
      `${inGit}; ${gitCommit} --allow-empty; git pack-refs --all; sed -i "s|^[0-9a-f]* refs/heads/main$|$(git rev-parse HEAD) refs/heads/main|" $G/packed-refs`,
      'base-branch',
    ],
    [
      'a commit that is on no branch, put on the base branch (S13)',
      'printf "#!/bin/sh\\n" > $AUTOMATON_OUTPUT.sh; export GIT_INDEX_FILE=$AUTOMATON_OUTPUT.index; git read-tree main; git update-index --add --cacheinfo 100755,$(git hash-object -w $AUTOMATON_OUTPUT.sh),deploy.sh; git update-ref refs/heads/main $(git -c user.name=a -c user.email=a@a commit-tree -p main -m x $(git write-tree))',
      'base-branch',
    ],
    [
      'a history that ends at the base branch’s tip (S14)',
      `${inGit}; git rev-parse main > $G/shallow`,
      'shallow',
    ],
    ['the worktree’s .git removed (S24)', 'rm .git', 'gitfile'],
    ['the worktree replaced by a file (S24)', 'W=$PWD; cd /; rm -rf "$W"; echo > "$W"', 'gitfile'],
    ['the worktree’s .git a repository of its own (S24)', 'rm .git; git init -q .', 'gitfile'],
    [
      'HEAD on the base branch, with a commit (S25)',
      `git symbolic-ref HEAD refs/heads/main; echo x >> src/work.txt; git add src; ${gitCommit}`,
      'base-branch',
    ],
    ['HEAD detached (S25)', 'git checkout -q --detach', 'head'],
  ]
  for (const [name, script, what] of cases) {
    test.concurrent(name, async () => {
      using a = await attack(script, {}, (p) => {
        p.git('commit', '-q', '--allow-empty', '-m', 'second')
      })
      expect(a.call.code).toBe(6)
      expect(a.halt.files).toContain(`tamper:${what}`)
    })
  }

  const histories: [name: string, script: string, what?: string][] = [
    [
      'an orphan in the branch’s place (S22)',
      `git checkout -q --orphan o; ${gitCommit}; git update-ref refs/heads/automaton/nightly HEAD; git symbolic-ref HEAD refs/heads/automaton/nightly`,
    ],
    ['the verified work squashed away (S22)', `git reset -q --soft HEAD~1; ${gitCommit} --allow-empty`],
    ['a reset to an older commit (S22)', 'git reset -q --hard HEAD~1'],
    ['the verified commit amended (S22)', `${gitCommit} --amend`],
    ['the base branch put back (S13)', 'git update-ref refs/heads/main main~1', 'base-branch'],
    [
      'a shallow file that cuts off the history (S14)',
      `${inGit}; ${gitCommit} --allow-empty; git rev-parse HEAD > $G/shallow`,
    ],
  ]
  for (const [name, script, what = 'branch'] of histories) {
    test.concurrent(name, async () => {
      const { p, call, halt } = await secondTick(script)
      using _ = p
      expect(call.code).toBe(6)
      expect(halt.files).toContain(`tamper:${what}`)
    })
  }

  test.concurrent('what a person’s git runs in a submodule and in another worktree (S14, S29)', async () => {
    const script = [
      inGit,
      'git config --file $G/modules/lib/config core.fsmonitor x',
      'mkdir -p $G/modules/lib/hooks; echo "#!/bin/sh" > $G/modules/lib/hooks/post-checkout',
      'git config --file $G/worktrees/side/config.worktree core.sshCommand x',
      'git config --file $G/config.worktree core.editor x',
    ]
    using a = await attack(script.join('\n'), {}, (p) => {
      const source = makeRepo(join(p.home, '..', 'source'))
      p.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'lib')
      p.git('commit', '-qm', 'lib')
      p.git('worktree', 'add', '-q', '-b', 'side', join(p.home, '..', 'side'))
    })
    expect(a.call.code).toBe(6)
    const names = [
      'config:core.editor',
      'modules/lib/config',
      'modules/lib/hooks/post-checkout',
      'worktrees/side/config.worktree',
    ]
    expect(a.halt.files).toEqual(names.map((name) => `tamper:${name}`))
  })

  test.concurrent('the branch of another loop, with this session’s commits (S28)', async () => {
    using p = await makeTarget({ task: true, loop: {} })
    await p.call(['create-loop', 'other', '--from-template', 'backlog'])
    p.git('branch', 'automaton/other', 'main')
    p.script({
      implement: `echo x >> src/work.txt; git add -A; ${gitCommit}; git update-ref refs/heads/automaton/other HEAD\n${artifact}`,
    })
    expect((await p.tick()).code).toBe(6)
    expect(p.state().halt.files).toContain('tamper:refs/heads/automaton/other')
  })
})

describe('what changes nothing of what is measured', () => {
  test.concurrent('the base branch at another commit, as a person puts it there: the recorded base counts (S13)', async () => {
    const { p, call, halt } = await secondTick(
      `${inGit}; (cd $G/.. && git update-ref refs/heads/main HEAD~1); echo x >> README.md`,
    )
    using _ = p
    expect(call.code).toBe(4)
    expect(halt.files).toEqual(['README.md'])
  })

  for (const [name, script] of [
    ['merged', 'git -c user.name=a -c user.email=a@a merge -q main -m x'],
    ['picked', 'git -c user.name=a -c user.email=a@a cherry-pick main'],
  ] as const) {
    test.concurrent(`commits of the base branch, ${name} into the loop’s: still out of scope (S22)`, async () => {
      const { p, call, halt } = await secondTick(`${script} >/dev/null 2>&1`)
      using _ = p
      expect(call.code).toBe(4)
      expect(halt.files).toEqual(['README.md'])
    })
  }

  test.concurrent('branches, tags, notes and a stash of its own: the work is verified as ever, and main stays (S28)', async () => {
    const script = [
      'echo x >> src/work.txt',
      'git branch mine; git tag v9; git -c user.name=a -c user.email=a@a notes add -m x',
      'echo y >> src/work.txt; git -c user.name=a -c user.email=a@a stash -q',
    ]
    using p = await makeTarget({ scenario: { implement: `${script.join('\n')}\n${honest.implement}` } })
    const main = p.git('rev-parse', 'main')
    expect((await p.tick()).code).toBe(0)
    expect(p.git('rev-parse', 'main')).toBe(main)
  })
})
