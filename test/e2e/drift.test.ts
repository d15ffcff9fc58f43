import { describe, expect, test } from 'bun:test'
import { makeProject, type ProjectOptions } from '../helpers/project.ts'

const done = 'echo done > "$AUTOMATON_OUTPUT"'
const commit = 'git -c user.name=a -c user.email=a@a commit -qm x'
const files = {
  'README.md': '# test\n',
  'src/work.txt': 'start\n',
  'tool.sh': '#!/bin/sh\n',
  '.gitignore': 'ignored/\n',
}

/** Runs one tick whose implement session does the given thing, in a loop that may only touch src/. */
async function tickWith(script: string, options: ProjectOptions = {}) {
  const p = await makeProject({
    files,
    createArgs: ['--scope', 'src/'],
    scenario: { implement: `${script}\n${done}`, verify: 'exit 9' },
    ...options,
  })
  const call = await p.tick()
  return { p, call, halt: p.state().halt }
}

describe('a session that leaves its scope halts the loop with the file named', () => {
  const cases: [name: string, script: string, files: string[]][] = [
    ['committed', `echo x >> README.md; git add -A; ${commit}`, ['README.md']],
    ['staged', 'echo x >> README.md; git add README.md', ['README.md']],
    ['unstaged', 'echo x >> README.md', ['README.md']],
    ['untracked', 'echo x > new.txt', ['new.txt']],
    [
      'renamed, both names',
      'git mv README.md src/README.md; git mv tool.sh b.sh',
      ['README.md', 'b.sh', 'tool.sh'],
    ],
    ['deleted', 'rm README.md', ['README.md']],
    ['a mode change', 'chmod -x tool.sh', ['tool.sh']],
    ['a symlink out of the tree', 'ln -s /etc/passwd src/link', ['src/link']],
    ['a relative symlink out of the tree', 'ln -s ../../x src/link', ['src/link']],
    ['a nested repository', 'git init -q src/inner; echo x > src/inner/f', ['src/inner']],
    [
      'hidden by skip-worktree',
      'git update-index --skip-worktree README.md; echo x >> README.md',
      ['README.md'],
    ],
    [
      'hidden by assume-unchanged',
      'git update-index --assume-unchanged README.md; echo x >> README.md',
      ['README.md'],
    ],
    ['an ignored protected file', 'echo .env >> src/.gitignore; echo K=1 > .env', ['.env', 'src/.gitignore']],
    ['a protected file inside the scope', 'echo x > src/CLAUDE.md', ['src/CLAUDE.md']],
    ['an odd name', 'echo x > "a \\"b\\" é 🎉.txt"', ['a "b" é 🎉.txt']],
  ]
  for (const [name, script, expected] of cases) {
    test(name, async () => {
      const { p, call, halt } = await tickWith(script)
      using _ = p
      expect(call.code).toBe(4)
      expect(halt).toMatchObject({ reason: 'drift_detected' })
      expect(halt.files).toEqual(expected)
    })
  }
})

describe('a session that tampers with the repository halts the loop', () => {
  const cases: [name: string, script: string, detail: RegExp][] = [
    [
      'main moved to its own commit',
      `echo x >> src/work.txt; git add -A; ${commit}; git update-ref refs/heads/main HEAD`,
      /main|base/,
    ],
    ['HEAD on another branch', 'git checkout -q -b other', /head/i],
    [
      'a replaced commit',
      `git replace -f HEAD $(git -c user.name=a -c user.email=a@a commit-tree HEAD^{tree} -m x)`,
      /replace/,
    ],
    ['a hook', 'printf "#!/bin/sh\\n" > "$(git rev-parse --git-common-dir)/hooks/post-checkout"', /hook/],
    ['a filter in the configuration', 'git config filter.x.clean cat', /filter/],
    ['an exclude file', 'echo "*" >> "$(git rev-parse --git-common-dir)/info/exclude"', /exclude/],
    ['its .git file', 'echo "gitdir: /tmp" > .git', /git/],
    ['loop.json', 'echo " " >> ../loop.json', /loop\.json/],
    ['the state', 'echo "{}" > ../.state.loop', /state/],
    ['the log', 'echo "{}" >> ../.state.log', /log/],
    ['the task', 'echo "{}" > ../../../tasks/fix-it/.state', /tasks\/fix-it/],
  ]
  for (const [name, script, detail] of cases) {
    test(name, async () => {
      const { p, call, halt } = await tickWith(script)
      using _ = p
      expect(call.code).toBe(6)
      expect(halt).toMatchObject({ reason: 'drift_detected' })
      expect(`${halt.detail} ${halt.files.join(' ')}`).toMatch(detail)
      expect(halt.detail).toStartWith('tamper:')
    })
  }
})

test('edits in scope with odd names are no drift', async () => {
  const names = ['a b', 'it"s', "it's", 'new\nline', 'é', 'e\u0301', '🎉', '-dash', ':(glob)x', '*']
  const script = names.map((name) => `echo x > 'src/${name.replaceAll("'", "'\\''")}'`).join('\n')
  const p = await makeProject({
    files,
    createArgs: ['--scope', 'src/'],
    scenario: { implement: `${script}\n${done}` },
  })
  using _ = p
  const call = await p.tick('--json')
  expect(call.json()).toMatchObject({ outcome: 'worked', to: 'code_review', halt: null })
  expect(p.git('ls-tree', '-rz', '--name-only', 'automaton/nightly', 'src/').split('\0')).toContain(
    'src/new\nline',
  )
})

test('what the verify session changes is put back', async () => {
  const p = await makeProject({
    scenario: { verify: `echo junk > junk.txt; echo x >> src/work.txt\necho '{"pass": true, "score": 1}'` },
  })
  using _ = p
  const call = await p.tick('--json')
  expect(call.json()).toMatchObject({ outcome: 'worked', to: 'code_review' })
  expect(JSON.stringify(call.json())).toContain('put back')
  expect(p.git('-C', p.worktree, 'status', '--porcelain')).toBe('')
})
