import { expect, test } from 'bun:test'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { automaton } from '../helpers/cli.ts'
import { goodAgent, must, type Scenario } from '../helpers/project.ts'
import { type Files, git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

const agent = join(import.meta.dir, '..', 'fixtures', 'bin', 'scripted-agent')
const loop = 'self-improvement'

const backlog = [
  '# Backlog',
  '',
  '- [x] Say hello',
  '- [ ] Say goodbye',
  '  In the same words as hello.',
  '- [ ] Say thanks',
  '',
].join('\n')

/** A HOME as a person's repository; nothing names its one source file but the given tests. */
function homeFiles(tests: Files): Files {
  return {
    'config.md': '# Configuration\n\nversion: 1.0.0\n',
    'scripts/greet.ts': 'export const greet = () => "hello"\n',
    'design/loops/BACKLOG.md': backlog,
    ...tests,
  }
}

const writesTest: Scenario = {
  ...goodAgent,
  implement: [
    'mkdir -p test',
    `echo "import '../scripts/greet.ts'" > test/greet.test.ts`,
    'echo "Added test/greet.test.ts, which names scripts/greet.ts." > "$AUTOMATON_OUTPUT"',
  ].join('\n'),
  // The task's criterion, checked where the work is.
  verify: [
    'pass=false',
    'automaton audit --project . --strict >&2 && pass=true',
    `echo "{\\"pass\\": $pass, \\"score\\": 0.9}"`,
  ].join('\n'),
}

/** A HOME that is a git repository, with the loop that the template makes and a scripted agent. */
async function makeHome(files: Files, scenario: Scenario) {
  const dir = tempDir()
  const person = join(dir.path, 'home')
  const home = makeRepo(join(person, '.automaton'), files)
  const scripts = join(dir.path, 'scenario')
  writeFiles(
    scripts,
    Object.fromEntries(Object.entries(scenario).map(([name, text]) => [`${name}.sh`, text])),
  )
  const call = (...args: string[]) => automaton(args, { cwd: dir.path, home: person })
  await must(call('create-loop', loop, '--from-template', loop, '--project', home))
  const loopDir = join(home, '.automaton', 'loops', loop)
  const file = join(loopDir, 'loop.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  config.harness.command = [agent, scripts]
  config.harness.writes = [scripts]
  writeFileSync(file, JSON.stringify(config, null, 2))
  return {
    home,
    loopDir,
    call,
    tick: () => call('tick', loop, '--project', home, '--json'),
    state: () => JSON.parse(readFileSync(join(loopDir, '.state.loop'), 'utf8')),
    task: (name: string) => JSON.parse(readFileSync(join(home, 'tasks', name, '.state'), 'utf8')),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  }
}

/** Every file of the primary checkout that is the person's, and where git says that they are. */
function primary(home: string): Record<string, string> {
  const found: Record<string, string> = {}
  const own = ['.automaton', 'tasks', '.git']
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    if (own.includes(name.split('/')[0] ?? '')) continue
    const path = join(home, name)
    const stat = lstatSync(path)
    const content = stat.isSymbolicLink()
      ? readlinkSync(path)
      : stat.isFile()
        ? readFileSync(path, 'base64')
        : ''
    found[name] = `${stat.mode.toString(8)} ${stat.mtimeMs} ${content}`
  }
  for (const name of ['HEAD', 'index', 'config']) {
    found[`.git/${name}`] = readFileSync(join(home, '.git', name), 'base64')
  }
  return { ...found, main: git(home, 'rev-parse', 'main') }
}

test('the template works the worst audit finding of HOME in a worktree, and moves its task', async () => {
  using h = await makeHome(homeFiles({}), writesTest)
  const audit = await must(h.call('audit', '--project', h.home, '--json'))
  expect(audit.json().violations).toMatchObject([{ rule: 'untested-source', path: 'scripts/greet.ts' }])
  const before = primary(h.home)

  const tick = await must(h.tick())
  expect(tick.json()).toMatchObject({
    outcome: 'worked',
    from: 'implement',
    to: 'code_review',
    verdict: { pass: true },
    halt: null,
  })

  // HOME's tasks lie in HOME/tasks; this one says what the audit found.
  const name = String(tick.json().task)
  expect(h.task(name)).toMatchObject({
    phase: 'code_review',
    origin: { kind: 'source', fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) },
    design_ref: 'audit:untested-source:scripts/greet.ts',
    history: [{ to: 'implement' }, { from: 'implement', to: 'code_review', actor: `loop:${loop}` }],
  })
  expect(readFileSync(join(h.home, 'tasks', name, 'TASK.md'), 'utf8')).toContain('scripts/greet.ts')
  const prompt = readFileSync(join(h.loopDir, 'outputs', 'tick1-verify-prompt.md'), 'utf8')
  expect(prompt).toContain('`automaton audit --project .` no longer reports untested-source:scripts/greet.ts')
  expect(h.state()).toMatchObject({ status: 'running', iteration_count: 1, current_task: name })

  // The work is in the worktree and on the loop's branch.
  expect(existsSync(join(h.loopDir, 'worktree', 'test', 'greet.test.ts'))).toBe(true)
  expect(git(h.home, 'diff', '--name-only', 'main', `automaton/${loop}`)).toBe('test/greet.test.ts')

  // Main and the primary checkout are as they were, to the byte.
  expect(primary(h.home)).toEqual(before)
  expect(git(h.home, 'status', '--porcelain').split('\n')).toEqual(['?? .automaton/', '?? tasks/'])
})

test('a second tick goes on with the same task: one finding makes one task', async () => {
  using h = await makeHome(homeFiles({}), writesTest)
  const first = (await must(h.tick())).json()
  const second = (await h.tick()).json()
  expect(second).toMatchObject({ outcome: 'worked', task: first.task, from: 'code_review' })
  expect(readdirSync(join(h.home, 'tasks')).filter((name) => !name.startsWith('.'))).toEqual([
    String(first.task),
  ])
})

test('when the audit has nothing, the open items of design/loops/BACKLOG.md come, the first one first', async () => {
  const named = { 'test/greet.test.ts': `import '../scripts/greet.ts'\n` }
  using h = await makeHome(homeFiles(named), {
    ...goodAgent,
    implement: 'echo bye >> scripts/greet.ts; echo "Said goodbye." > "$AUTOMATON_OUTPUT"',
  })
  expect((await must(h.call('audit', '--project', h.home, '--strict', '--json'))).json().violations).toEqual(
    [],
  )
  const before = primary(h.home)
  const tick = await must(h.tick())
  expect(tick.json()).toMatchObject({ outcome: 'worked', task: 'say-goodbye', to: 'code_review' })
  expect(h.task('say-goodbye').design_ref).toStartWith('design/loops/BACKLOG.md')
  const brief = readFileSync(join(h.home, 'tasks', 'say-goodbye', 'TASK.md'), 'utf8')
  expect(brief).toContain('In the same words as hello.')
  expect(primary(h.home)).toEqual(before)
})

test('with nothing found and nothing open it does no work and costs nothing', async () => {
  const files = homeFiles({ 'test/greet.test.ts': `import '../scripts/greet.ts'\n` })
  using h = await makeHome(
    { ...files, 'design/loops/BACKLOG.md': '# Backlog\n\n- [x] Say hello\n' },
    { implement: 'exit 9' },
  )
  expect((await must(h.tick())).json()).toMatchObject({ outcome: 'no_work' })
  expect(h.state()).toMatchObject({ iteration_count: 0, consecutive_errors: 0, cost: { usd: 0, tokens: 0 } })
  expect(existsSync(join(h.loopDir, 'worktree'))).toBe(false)
})
