import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { failureJson, failureOf, failureText } from '../src/cli/failure.ts'
import { type AutomatonError, errors, exitCodes } from '../src/errors.ts'

const root = join(import.meta.dir, '..')
const fix = 'do this one thing'

/** Each error with everyday arguments, and the first line that a person reads. A new factory does not compile without one. */
const table = {
  approvalRefused: {
    error: errors.approvalRefused('nightly', 'that was not the word', fix),
    says: 'approval refused (nightly): that was not the word',
    exit: 3,
  },
  badConfig: {
    error: errors.badConfig('loop.json', 'brakes.max_iterations', '0', 'a whole number of 1 or more'),
    says: 'bad configuration (loop.json): brakes.max_iterations is 0; allowed: a whole number of 1 or more',
    exit: 2,
  },
  badName: {
    error: errors.badName('loop', 'Nightly!'),
    says: 'bad loop name ("Nightly!"): a name is 1 to 63 of a-z, 0-9 and -, starts with a letter or digit, and is no Windows device name',
    exit: 2,
  },
  badValue: {
    error: errors.badValue('bad AUTOMATON_HOME', 'here', 'it is a relative path', fix),
    says: 'bad AUTOMATON_HOME (here): it is a relative path',
    exit: 2,
  },
  branchUnusable: {
    error: errors.branchUnusable('automaton/nightly', 'it is checked out elsewhere', fix),
    says: 'branch cannot be used (automaton/nightly): it is checked out elsewhere',
    exit: 5,
  },
  busy: {
    error: errors.busy('nightly', 'pid 4711, since 10:00'),
    says: 'loop is busy (nightly): pid 4711, since 10:00',
    exit: 3,
  },
  cannotRun: {
    error: errors.cannotRun('agent', 'it is not executable', fix),
    says: 'cannot run (agent): it is not executable',
    exit: 5,
  },
  claimedByOther: {
    error: errors.claimedByOther('fix-login', 'pat'),
    says: 'task is claimed (fix-login): pat has it',
    exit: 3,
  },
  cloneFailed: {
    error: errors.cloneFailed('https://git.example.test/home.git', 'could not resolve host'),
    says: 'cannot read your repository (https://git.example.test/home.git): could not resolve host',
    exit: 5,
  },
  commandNotFound: {
    error: errors.commandNotFound('opencode', '/usr/bin:/bin'),
    says: 'command not found (opencode): it is in no folder of PATH=/usr/bin:/bin',
    exit: 5,
  },
  commitLost: {
    error: errors.commitLost('nightly', '0123456789abcdef', 'my-project'),
    says: 'commit is lost (nightly): 0123456789ab, which its branch goes on from, is no longer in my-project',
    exit: 5,
  },
  durabilityUnknown: {
    error: errors.durabilityUnknown('.state.loop', 'the disk did not answer'),
    says: 'written, but perhaps not to last a power cut (.state.loop): the disk did not answer',
    exit: 5,
  },
  exists: {
    error: errors.exists('loop', 'nightly', fix),
    says: 'loop exists already (nightly): it was left as it is',
    exit: 2,
  },
  folderMissing: {
    error: errors.folderMissing('the current folder', 'it was deleted or moved'),
    says: 'folder is missing (the current folder): it was deleted or moved',
    exit: 5,
  },
  gitFailed: {
    error: errors.gitFailed('git read-tree', 'not a tree object'),
    says: 'git failed (git read-tree): not a tree object',
    exit: 5,
  },
  gitLocked: {
    error: errors.gitLocked('.git/index.lock', 'rm .git/index.lock'),
    says: 'git is locked (.git/index.lock): a git process may be running',
    exit: 5,
  },
  gitMissing: {
    error: errors.gitMissing(),
    says: 'git not found (git): it is in no folder of PATH',
    exit: 5,
  },
  gitTooOld: {
    error: errors.gitTooOld('2.20.1', '2.38'),
    says: 'git is too old (git 2.20.1): automaton needs 2.38 or newer',
    exit: 5,
  },
  homeChanged: {
    error: errors.homeChanged('my-home', 'config.md, README.md'),
    says: 'update stopped (my-home): it would overwrite what you changed in config.md, README.md',
    exit: 5,
  },
  homeDiverged: {
    error: errors.homeDiverged('my-home', 'main'),
    says: 'not a fast-forward (my-home): main has commits that its remote lacks, and the remote has others',
    exit: 5,
  },
  homeTaken: {
    error: errors.homeTaken('my-home', 'it holds letters'),
    says: 'cannot become your HOME (my-home): it holds letters; it was left as it is',
    exit: 2,
  },
  inTick: {
    error: errors.inTick('approve'),
    says: 'refused inside a tick (automaton approve): a session cannot change its own loop',
    exit: 6,
  },
  intentExists: {
    error: errors.intentExists('intent.json'),
    says: 'second operation refused (intent.json): this session has already named one',
    exit: 6,
  },
  intentRole: {
    error: errors.intentRole('hold', 'verify'),
    says: 'refused (automaton hold): the verify session may not do this',
    exit: 6,
  },
  linkedFolder: {
    error: errors.linkedFolder('repo/.automaton'),
    says: 'folder is a link (repo/.automaton): automaton writes only where the project itself is',
    exit: 5,
  },
  noBaseBranch: {
    error: errors.noBaseBranch('main', 'my-project'),
    says: 'base branch not found (main): my-project has no such branch',
    exit: 5,
  },
  noCommits: {
    error: errors.noCommits('my-project'),
    says: 'repository has no commit yet (my-project): there is nothing to branch from',
    exit: 5,
  },
  noGitUrl: {
    error: errors.noGitUrl(),
    says: 'no git URL (automaton install): without a repository of yours, what automaton changes in its own files could not be undone',
    exit: 2,
  },
  noLoop: {
    error: errors.noLoop('nightly', 'this project has no loops'),
    says: 'loop not found (nightly): this project has no loops',
    exit: 2,
  },
  noProject: {
    error: errors.noProject('my-folder'),
    says: 'not in a project (my-folder): there is no git repository and no .automaton folder here or above',
    exit: 2,
  },
  noTask: {
    error: errors.noTask('fix-login', 'this project has no tasks'),
    says: 'task not found (fix-login): this project has no tasks',
    exit: 2,
  },
  noTemplate: {
    error: errors.noTemplate('nope', 'there are backlog, ci-triage'),
    says: 'template not found (nope): there are backlog, ci-triage',
    exit: 2,
  },
  notGit: {
    error: errors.notGit('my-folder'),
    says: 'not a git repository (my-folder): a worktree needs one',
    exit: 5,
  },
  orphanLives: {
    error: errors.orphanLives('nightly', [11, 12]),
    says: 'a session of a tick that died cannot be ended (nightly): pid 11, 12 still runs',
    exit: 5,
  },
  pluginFailed: {
    error: errors.pluginFailed('todo-file', 'find', 'no such file'),
    says: 'plugin "todo-file" failed in find: no such file',
    exit: 5,
  },
  pluginUnknown: {
    error: errors.pluginUnknown('harness', 'nope', 'there are command, opencode'),
    says: 'unknown harness (nope): there are command, opencode',
    exit: 5,
  },
  readFailed: {
    error: errors.readFailed('loop.json', 'permission denied'),
    says: 'cannot read (loop.json): permission denied',
    exit: 5,
  },
  repositoryBroken: {
    error: errors.repositoryBroken('my-project', 'its HEAD cannot be read', fix),
    says: 'repository cannot be used (my-project): its HEAD cannot be read',
    exit: 5,
  },
  scheduleFailed: {
    error: errors.scheduleFailed('nightly', 'cron', 'crontab refused the table: bad minute'),
    says: 'schedule not as asked (nightly, by cron): crontab refused the table: bad minute',
    exit: 5,
  },
  schedulerMissing: {
    error: errors.schedulerMissing('crontab'),
    says: 'no such program (crontab): the scheduler is driven by it',
    exit: 5,
  },
  sessionLives: {
    error: errors.sessionLives('nightly'),
    says: 'what a session started cannot be ended (nightly): it was killed, and runs on or comes back',
    exit: 5,
  },
  stateDamaged: {
    error: errors.stateDamaged('.state.loop', 'it is not JSON', 'nightly'),
    says: 'state cannot be read (.state.loop): it is not JSON',
    exit: 5,
  },
  stateTampered: {
    error: errors.stateTampered('.state.loop', 'iteration_count is not what record 4 says', 'nightly'),
    says: 'state does not match its log (.state.loop): iteration_count is not what record 4 says',
    exit: 6,
  },
  stateTooNew: {
    error: errors.stateTooNew('.state.loop', 2),
    says: 'state is from a newer automaton (.state.loop): schema_version 2',
    exit: 5,
  },
  taskDamaged: {
    error: errors.taskDamaged('tasks/fix-login/.state', 'it is not JSON'),
    says: 'task cannot be read (tasks/fix-login/.state): it is not JSON',
    exit: 5,
  },
  taskPhase: {
    error: errors.taskPhase('fix-login', 'claim', 'complete', fix),
    says: 'cannot claim (fix-login): the task is in complete',
    exit: 3,
  },
  transitionRefused: {
    error: errors.transitionRefused('fix-login', 'edge', 'implement does not lead to referee', fix),
    says: 'transition refused (fix-login): edge: implement does not lead to referee',
    exit: 3,
  },
  uninstallStopped: {
    error: errors.uninstallStopped('nightly', 'my-project', 'the crontab cannot be read'),
    says: 'uninstall stopped (nightly in my-project): its schedule is still there: the crontab cannot be read',
    exit: 5,
  },
  unsafeEnvironment: {
    error: errors.unsafeEnvironment('LD_PRELOAD'),
    says: 'refused (LD_PRELOAD is set): it can load code into automaton',
    exit: 6,
  },
  usage: {
    error: errors.usage('missing option (automaton create-loop)', 'it needs --from-template NAME', fix),
    says: 'missing option (automaton create-loop): it needs --from-template NAME',
    exit: 2,
  },
  worktreeUnusable: {
    error: errors.worktreeUnusable('worktree', 'it belongs to another repository', fix),
    says: 'worktree cannot be used (worktree): it belongs to another repository',
    exit: 5,
  },
  wrongStatus: {
    error: errors.wrongStatus('nightly', 'approve', 'running', fix),
    says: 'cannot approve (nightly): the loop is running',
    exit: 3,
  },
  writeFailed: {
    error: errors.writeFailed('.state.log', 'no space left on the device'),
    says: 'cannot write (.state.log): no space left on the device',
    exit: 5,
  },
} satisfies Record<keyof typeof errors, { error: AutomatonError; says: string; exit: number }>

const rows = Object.entries(table)

describe('every error', () => {
  test.each(rows)('%s says what failed, where and why', (_name, { error, says }) => {
    expect(error.message).toBe(says)
  })

  test.each(rows)('%s ends with its exit code and is two lines for people', (_name, { error, exit }) => {
    const failure = failureOf(error, 'automaton x')
    expect(failure.exit).toBe(exit as typeof failure.exit)
    const [first, second, ...rest] = failureText(failure, null).split('\n')
    expect(first).toBe(`automaton: ${error.message}`)
    expect(second).toBe(`  fix: ${error.fix}`)
    expect(rest).toEqual([''])
    expect(error.fix.trim()).not.toBe('')
  })

  test.each(rows)('%s fits "what (where): why", in plain words', (_name, { error }) => {
    // A plugin is named in quotes instead, as its author will search for it.
    expect(error.message).toMatch(/^(?:[^()]+ \([^()]+\): \S.*|plugin "[^"]+" failed in \w+: \S.*)$/)
    for (const text of [error.message, error.fix]) {
      expect(text).not.toMatch(/[\n\r]|undefined|\[object|\bnull\b|\bat .*\.ts:\d|\$bunfs|node_modules/)
      expect(text).not.toContain(root)
      expect(text).not.toMatch(/[.!]$/)
    }
  })

  test.each(rows)('%s is one JSON object for programs', (_name, { error, exit }) => {
    const { code, message, fix } = error
    const text = failureJson(failureOf(error, 'automaton x'))
    expect(JSON.parse(text)).toEqual({ schema: 1, type: 'error', code, message, fix, exit })
    expect(text.trimEnd()).not.toContain('\n')
  })
})

test('codes are unique, snake_case, and none is the code of a bug', () => {
  const codes = rows.map(([, { error }]) => error.code)
  expect(new Set(codes).size).toBe(codes.length)
  for (const code of codes) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
  expect(codes).not.toContain('bug')
})

test('the catalogue is in alphabetical order', () => {
  expect(Object.keys(errors)).toEqual(Object.keys(errors).toSorted())
})

test('what is not in the catalogue is reported as a bug, exit 1', () => {
  const failure = failureOf(new TypeError('x is not a function'), 'automaton tick')
  expect(failure).toMatchObject({ code: 'bug', exit: 1 })
  expect(failure.message).toBe('a bug in automaton (automaton tick): x is not a function')
})

test('docs/troubleshooting.md tells what to do about every code, and about no code that is gone', () => {
  const page = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8')
  const told = [...page.matchAll(/^### `(\w+)`/gm)].map(([, code]) => code ?? '')
  const codes = [...rows.map(([, { error }]) => error.code), 'bug']
  expect(told.toSorted()).toEqual(codes.toSorted())
})

test('docs/commands.md names every exit code', () => {
  const page = readFileSync(join(root, 'docs', 'commands.md'), 'utf8')
  for (const code of Object.values(exitCodes)) expect(page).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'))
})
