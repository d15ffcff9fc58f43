import { describe, expect, test } from 'bun:test'
import { type Change, inScope, isProtected, outOfScope } from '../../src/machine/scope.ts'
import { isLinear } from './builders.ts'

const change = (path: string, changes: Partial<Change> = {}): Change => ({
  path,
  oldMode: '000000',
  newMode: '100644',
  linkTarget: null,
  ...changes,
})

const link = (path: string, linkTarget: string | null): Change =>
  change(path, { newMode: '120000', linkTarget })
const outside = (changes: Change[], fileScope: string[] = [], prefix = '') =>
  outOfScope(changes, { fileScope, prefix })

describe('patterns', () => {
  test.each([
    ['src', 'src/a/b.ts', true],
    ['src/', 'src/a/b.ts', true],
    ['./src', 'src/a.ts', true],
    ['/src', 'src/a.ts', true],
    ['src', 'src', true],
    ['src', 'src2/a.ts', false],
    ['src', 'lib/src/a.ts', false],
    ['.', 'a/b', true],
    ['README.md', 'README.md', true],
    ['README.md', 'readme.md', false],
    ['*.md', 'a.md', true],
    ['*.md', 'docs/a.md', false],
    ['*.md', '.hidden.md', true],
    ['src/*', 'src/a.ts', true],
    ['src/*', 'src/a/b.ts', false],
    ['src/*/', 'src/a/b.ts', true],
    ['src/*/', 'src', false],
    ['src/**', 'src/a/b/c.ts', true],
    ['src/**', 'src', true],
    ['src/**/x.ts', 'src/x.ts', true],
    ['src/**/x.ts', 'src/a/b/x.ts', true],
    ['src/**/x.ts', 'src/a/b/y.ts', false],
    ['**/x.ts', 'x.ts', true],
    ['**', 'a/b/c', true],
    ['a**b', 'aXYb', true],
    ['a**b', 'a/b', false],
    ['?.ts', 'a.ts', true],
    ['?.ts', '😀.ts', true],
    ['?.ts', 'ab.ts', false],
    ['a?b', 'a/b', false],
    ['[abc].ts', 'b.ts', true],
    ['[a-c]x', 'bx', true],
    ['[a-c]x', 'dx', false],
    ['[!a-c]x', 'dx', true],
    ['[^a-c]x', 'ax', false],
    ['[]x]', ']', true],
    ['[a-]', '-', true],
    ['[ab', '[ab', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'aXb', false],
    ['{a,b}', 'a', false],
    ['packages/*/src/', 'packages/web/src/a/b.ts', true],
    ['packages/*/src', 'packages/web/src/a.ts', false],
    ['../x', '../x', false],
    ['src/../lib', 'lib/a', false],
    ['', 'a', false],
    ['caf\u00e9', 'cafe\u0301', false],
    ['a b', 'a b', true],
    ['-rf', '-rf', true],
  ])('%j on %j: %p', (pattern, path, expected) => {
    expect(inScope(path, [pattern])).toBe(expected)
  })

  test('no pattern at all means everything but the protected set', () => {
    expect(inScope('any/thing.ts', [])).toBe(true)
    expect(inScope('AGENTS.md', [])).toBe(false)
  })

  test('one pattern that matches is enough', () => {
    expect(inScope('docs/a.md', ['src', 'docs'])).toBe(true)
  })
})

describe('the protected set', () => {
  test.each([
    '.automaton/loops/x/loop.json',
    '.git',
    '.git/config',
    '.gitignore',
    '.gitattributes',
    '.gitmodules',
    '.github/workflows/ci.yml',
    'bunfig.toml',
    '.env',
    '.env.local',
    '.npmrc',
    'AGENTS.md',
    'CLAUDE.md',
    'GEMINI.md',
    '.claude/settings.json',
    '.codex/config.toml',
    '.gemini/settings.json',
    '.opencode/agent/x.md',
    'opencode.json',
    'packages/web/AGENTS.md',
    'packages/web/.gitattributes',
    'packages/web/.env',
    'a/.claude/hooks/x.sh',
    'agents.MD',
    '.GitHub/x',
    'BUNFIG.toml',
    'bunf\u0131g.toml',
    '.ENV',
    '.\u200cgit/config',
    'AGENTS.md\u200d',
    'AGENTS.md.',
    'AGENTS.md ',
    '.git .',
    '.git::$INDEX_ALLOCATION/x',
    'GIT~1/config',
    'GITATT~1',
    'x\\.git\\config',
  ])('%j', (path) => {
    expect(isProtected(path)).toBe(true)
    expect(inScope(path, [])).toBe(false)
    expect(inScope(path, ['**', '*', '.', '**/*'])).toBe(false)
  })

  test.each([
    'src/git.ts',
    'environment.ts',
    'docs/agents.md.txt',
    'my.env',
    'automaton/x',
    'claude.ts',
    'git~',
    'x~1',
  ])('%j is not in it', (path) => {
    expect(isProtected(path)).toBe(false)
    expect(inScope(path, [])).toBe(true)
  })

  test.each([
    ['AGENTS.md', 'AGENTS.md', true],
    ['AGENTS.md', 'packages/web/AGENTS.md', false],
    ['**/AGENTS.md', 'packages/web/AGENTS.md', true],
    ['.github/', '.github/workflows/ci.yml', true],
    ['.github', '.github/workflows/ci.yml', true],
    ['.github/**', '.github/workflows/ci.yml', true],
    ['.github/workflows/*.yml', '.github/workflows/ci.yml', true],
    ['.github/', '.gitlab-ci.yml', false],
    ['.github/', '.github/AGENTS.md', false],
    ['.env*', '.env.example', true],
    ['.env.example', '.env.example', true],
    ['.env.example', '.env', false],
    ['.e*', '.env', false],
    ['?env', '.env', false],
    ['[.]env', '.env', false],
    ['.*', '.env', false],
    ['src/', 'src/AGENTS.md', false],
    ['src/', 'src/.env', false],
    ['src/**', 'src/.gitignore', false],
    ['src/**/.gitignore', 'src/a/.gitignore', true],
    ['.gitignore', '.GITIGNORE', false],
    ['.claude/**', 'a/.claude/x', false],
    ['.automaton/tasks/', '.automaton/tasks/x/TASK.md', true],
  ])('%j lifts it for %j: %p', (pattern, path, expected) => {
    expect(inScope(path, [pattern])).toBe(expected)
  })

  test.each(['.git', '.git/config', '.GIT/hooks/x', 'sub/.git/config', '.git./x', 'git~1/x', '.g\u200cit/x'])(
    'git’s own folder stays out of scope even when listed: %j',
    (path) => {
      expect(inScope(path, [path, '.git', '.git/**', 'sub/.git/**'])).toBe(false)
    },
  )
})

describe('what is out of scope wherever it lies', () => {
  test.each([
    ['a new submodule', change('vendor', { newMode: '160000' })],
    ['a submodule that moved', change('vendor', { oldMode: '160000', newMode: '160000' })],
    ['a submodule that went', change('vendor', { oldMode: '160000', newMode: '000000' })],
    ['a link to an absolute path', link('src/x', '/etc/passwd')],
    ['a link out of the tree', link('src/x', '../../outside')],
    ['a link out of the tree from the top', link('x', '..')],
    ['a link that climbs after it went down', link('a/b', 'c/../../..')],
    ['a link through a folder that may be a link', link('b', 'a/../x')],
    ['a link into git’s folder', link('src/x', '../.git/config')],
    ['a link into git’s folder by another spelling', link('src/x', '../.GIT/hooks')],
    ['a Windows drive', link('x', 'C:\\Users')],
    ['a Windows share', link('x', '\\\\host\\share')],
    ['a Windows climb', link('a/x', '..\\..\\x')],
    ['an empty link', link('x', '')],
    ['a link that nobody could read', link('x', null)],
    ['a path that climbs', change('src/../brakes.json')],
    ['an absolute path', change('/etc/x')],
    ['a doubled slash', change('src//x')],
    ['a dot folder', change('./x')],
  ])('%s', (_, one) => {
    expect(outside([one])).toEqual([one.path])
    expect(outside([one], ['**', 'src', 'vendor', 'x', 'a', 'b'])).toEqual([one.path])
  })

  test.each([
    link('src/x', 'y'),
    link('src/x', './a/b'),
    link('src/x', '../lib/y'),
    link('a/b/c', '../../d'),
    link('x', 'dir/'),
  ])('a link that stays inside is a change like any other: %o', (one) => {
    expect(outside([one])).toEqual([])
    expect(outside([one], ['other'])).toEqual([one.path])
  })

  test('a link that goes is judged by its path alone', () => {
    expect(outside([change('src/x', { oldMode: '120000', newMode: '000000' })])).toEqual([])
  })
})

describe('a list of changes', () => {
  test('both sides of a rename, sorted, each once', () => {
    const changes = [
      change('z.ts'),
      change('a.ts'),
      change('src/b.ts'),
      change('z.ts', { newMode: '100755' }),
    ]
    expect(outside(changes, ['src'])).toEqual(['a.ts', 'z.ts'])
  })

  test('names with quotes, line ends and leading colons are names', () => {
    const names = ['src/"q".ts', 'src/a\nb.ts', ':(glob)x', 'src/\u202egnp.ts']
    expect(
      outside(
        names.map((name) => change(name)),
        ['src'],
      ),
    ).toEqual([':(glob)x'])
  })

  test('patterns are relative to the project in its folder of the repository', () => {
    const changes = [change('app/src/a.ts'), change('app/b.ts'), change('src/c.ts')]
    expect(outside(changes, ['src'], 'app/')).toEqual(['app/b.ts', 'src/c.ts'])
    expect(outside(changes, ['**'], 'app/')).toEqual(['src/c.ts'])
  })

  test('an empty scope means the whole worktree, around the project too', () => {
    const changes = [
      change('app/src/a.ts'),
      change('other/c.ts'),
      change('app/.env'),
      change('.github/x.yml'),
    ]
    expect(outside(changes, [], 'app/')).toEqual(['.github/x.yml', 'app/.env'])
  })

  test('a project inside a protected folder can be worked', () => {
    expect(outside([change('.claude/plugin/a.ts'), change('.claude/x')], [], '.claude/plugin/')).toEqual([
      '.claude/x',
    ])
  })
})

describe('hostile patterns and paths', () => {
  const many = (n: number) => Array.from({ length: n }, () => 'a').join('/')

  test.each([
    ['stars in a name', 'a*a*a*a*a*a*a*a*b', (n: number) => 'a'.repeat(n)],
    ['deep stars', '**/**/**/**/a*a*a*b', (n: number) => many(n)],
    ['deep stars between names', '**/a/**/a/**/a/**/b', (n: number) => many(n)],
  ])('%s take time in proportion to the path', (_, pattern, path) => {
    expect(isLinear((text) => void inScope(text, [pattern]), path, 2500)).toBe(true)
    expect(inScope(path(5000), [pattern])).toBe(false)
  })

  test('a pattern of a thousand stars is answered at once', () => {
    const start = performance.now()
    expect(inScope(`${'a/'.repeat(500)}x`, [`${'**/'.repeat(500)}b`])).toBe(false)
    expect(inScope('a'.repeat(4000), [`${'a*'.repeat(1000)}b`])).toBe(false)
    expect(performance.now() - start).toBeLessThan(3000)
  })
})
