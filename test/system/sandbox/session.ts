import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecResult } from '../../../src/system/exec.ts'
import { landlockAbi, leastAbi } from '../../../src/system/sandbox/landlock.ts'
import type { SandboxChoice } from '../../../src/system/sandbox/tier.ts'
import { git, makeRepo, writeFiles } from '../../helpers/repo.ts'
import { tempDir } from '../../helpers/temp.ts'

/** What `session-main.ts` is told. */
export interface SessionOrder {
  dir: string
  tmp: string
  /** Where the sandbox's program is looked for. */
  path: string
  argv: string[]
  env: Record<string, string>
  timeoutMs?: number
  /** Default: `.automaton` in the home. */
  automatonHome?: string
  /** What the harness declares; default: some folders that it gets and some that it does not. */
  writes?: string[]
  /** Stands for automaton's own program. */
  self?: string[]
  /** The PATH whose folders are to be kept; default: empty. */
  folders?: string
}

/** What it tells back. */
export interface SessionSeen {
  choice: SandboxChoice
  notes: string[]
  argv: string[]
  result: ExecResult
  uid: number
}

/** One way to run sessions on this machine. */
export interface Way {
  kind: 'bwrap' | 'landlock'
  /** `user`: an ordinary user, when the tests themselves run as root. */
  who: 'self' | 'user'
  /** Why it cannot be had here, or null. */
  missing: string | null
}

/** The environment of what runs a session. It writes nothing of its own anywhere. */
export const runnerEnv = { PATH: process.env.PATH ?? '', BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0' }

const asUser = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', '--inh-caps=-all', '--']

/** Both sandboxes, as the user of the tests, and if that is root as an ordinary user too: root passes more. */
export const ways: Way[] = (['bwrap', 'landlock'] as const).flatMap((kind) =>
  (process.getuid?.() === 0 ? (['self', 'user'] as const) : (['self'] as const)).map((who) => ({
    kind,
    who,
    missing: lacking(kind, who),
  })),
)

/** A name for tests: says why they are skipped, when they are. */
export function titleOf({ kind, who, missing }: Way): string {
  const user = process.getuid?.() === 0 && who === 'self' ? 'as root' : 'as a user'
  return `${kind} ${user}${missing === null ? '' : ` (skipped: ${missing})`}`
}

/** True when tests of this way have to be skipped; never where every tool has to be there. */
export function isSkipped({ missing }: Way): boolean {
  return missing !== null && !process.env.TEST_REQUIRE_TOOLS
}

/** A project with a worktree, a home with secrets, and sessions in it. */
export interface Place extends Disposable {
  dir: string
  repo: string
  home: string
  loopDir: string
  worktree: string
  run(script: string, options?: Partial<SessionOrder>): SessionSeen
  /** The command line that runs the session, for a test that has to watch it. */
  command(script: string, options?: Partial<SessionOrder>): string[]
}

/** Makes such a place for one way of running sessions. */
export function makePlace(way: Way): Place {
  const temp = tempDir()
  const dir = temp.path
  const repo = makeRepo(join(dir, 'repo'), { 'a.txt': 'a\n' })
  const home = join(dir, 'home')
  const loopDir = join(repo, '.automaton', 'loops', 'x')
  const worktree = join(loopDir, 'worktree')
  mkdirSync(loopDir, { recursive: true })
  writeFiles(loopDir, { 'loop.json': '{}\n', '.state.loop': '{}\n' })
  git(repo, 'worktree', 'add', '-q', '-b', 'automaton/x', worktree)
  mkdirSync(join(worktree, '.automaton-run'))
  writeFiles(home, {
    '.ssh/id': 'secret\n',
    '.netrc': 'secret\n',
    '.aws/credentials': 'secret\n',
    '.aws/sso/token': 'token\n',
    '.config/gh/hosts.yml': 'secret\n',
    '.config/other': 'plain\n',
    '.automaton/config.md': 'home\n',
    '.bashrc': 'plain\n',
  })
  symlinkSync(join(home, '.ssh'), join(home, 'keys'))
  if (way.who === 'user') spawnSync('chown', ['-R', 'nobody', dir])
  chmodSync(dir, 0o755)
  const command = (script: string, options: Partial<SessionOrder> = {}) => {
    const order: SessionOrder = {
      dir,
      tmp: `${dir}-tmp`,
      path: way.kind === 'bwrap' ? (process.env.PATH ?? '') : '/nowhere',
      argv: ['sh', '-c', script],
      env: { D: dir, R: repo, L: loopDir, W: worktree },
      ...options,
    }
    const session = [process.execPath, join(import.meta.dir, 'session-main.ts'), JSON.stringify(order)]
    return way.who === 'user' ? [...asUser, ...session] : session
  }
  return {
    ...{ dir, repo, home, loopDir, worktree, command },
    run(script, options) {
      const [program = '', ...args] = command(script, options)
      const done = spawnSync(program, args, {
        encoding: 'utf8',
        env: runnerEnv,
        cwd: '/',
      })
      if (done.status !== 0) throw new Error(`${done.status ?? done.signal}: ${done.stderr}`)
      return JSON.parse(done.stdout)
    },
    [Symbol.dispose]() {
      temp[Symbol.dispose]()
      // Left by sessions whose automaton a test has killed.
      rmSync(`${dir}-tmp`, { recursive: true, force: true })
    },
  }
}

function lacking(kind: Way['kind'], who: Way['who']): string | null {
  if (process.platform !== 'linux') return 'this is not Linux'
  if (kind === 'bwrap' && Bun.which('bwrap') === null) return 'bubblewrap is not installed'
  if (kind === 'landlock' && landlockAbi() < leastAbi) return `Landlock has version ${landlockAbi()}`
  if (who === 'self') return null
  if (Bun.which('setpriv') === null) return 'setpriv is not installed'
  const readable =
    spawnSync(asUser[0] ?? '', [...asUser.slice(1), process.execPath, '--version']).status === 0
  return readable ? null : 'an ordinary user cannot read this checkout'
}
