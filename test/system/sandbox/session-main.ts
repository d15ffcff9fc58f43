// Runs one command as a session of automaton would run, and prints what came of it as JSON. A program of its own, so
// that the whole of it can be run as another user.
import { join } from 'node:path'
import { exec } from '../../../src/system/exec.ts'
import { realDestination } from '../../../src/system/real-path.ts'
import { policyFor } from '../../../src/system/sandbox/policy.ts'
import { findSandbox } from '../../../src/system/sandbox/tier.ts'
import { wrapCommand } from '../../../src/system/sandbox/wrap.ts'
import type { SessionOrder, SessionSeen } from './session.ts'

const order: SessionOrder = JSON.parse(process.argv[2] ?? '')
const repo = join(order.dir, 'repo')
const loopDir = join(repo, '.automaton', 'loops', 'x')
const worktree = join(loopDir, 'worktree')
const choice = await findSandbox({ path: order.path, mode: 'required' })
const policy = policyFor({
  worktree,
  cwd: worktree,
  runFolder: join(worktree, '.automaton-run'),
  commonDir: join(repo, '.git'),
  worktreeGitDir: join(repo, '.git', 'worktrees', 'worktree'),
  root: repo,
  automaton: join(repo, '.automaton'),
  automatonHome: order.automatonHome ?? join(order.dir, 'home', '.automaton'),
  loopDir,
  userHome: join(order.dir, 'home'),
  uid: process.getuid?.() ?? null,
  harnessWrites: order.writes ?? ['~/.agent/state', '~/.aws/sso', '~', join(repo, '.git', 'hooks')],
  otherWrites: [],
  self: order.self ?? [],
  path: (order.folders ?? '').split(':'),
  temporary: ['/tmp'],
  real: realDestination,
  tmp: order.tmp,
})
const env = {
  PATH: process.env.PATH ?? '',
  HOME: join(order.dir, 'home'),
  LANG: 'C.UTF-8',
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0',
  ...order.env,
}
const self = [process.execPath, join(import.meta.dir, 'enter-main.ts')]
using wrapped = wrapCommand({ choice, policy, argv: order.argv, path: env.PATH, self })
const result = await exec({
  argv: wrapped.argv,
  cwd: worktree,
  env: { ...env, ...wrapped.env, OUTSIDE: String(process.pid) },
  ...(order.timeoutMs === undefined ? {} : { timeoutMs: order.timeoutMs }),
  onSpawn: (who) => void process.stderr.write(`${who.pid}\n`),
})
const seen: SessionSeen = {
  choice,
  notes: wrapped.notes,
  argv: wrapped.argv,
  result,
  uid: process.getuid?.() ?? -1,
}
process.stdout.write(JSON.stringify(seen))
