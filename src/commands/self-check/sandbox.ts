import { existsSync, mkdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { exec } from '../../system/exec.ts'
import { realDestination } from '../../system/real-path.ts'
import { policyFor } from '../../system/sandbox/policy.ts'
import { findSandbox } from '../../system/sandbox/tier.ts'
import { wrapCommand } from '../../system/sandbox/wrap.ts'
import { type Bench, expect, limitMs, partVerb } from './bench.ts'

/** Where there is a sandbox, a program in it can write its worktree and nothing beside it. Without one it says so. */
export async function sandbox(bench: Bench): Promise<string> {
  const { app, folder } = bench
  const { tier, why, ...choice } = await findSandbox({ path: app.env.PATH ?? '', mode: 'auto' })
  if (tier === 'T0') return `T0: changes out of scope are noticed, not prevented (${why})`
  const worktree = join(folder, 'worktree')
  const beside = join(folder, 'beside')
  for (const dir of [worktree, beside]) mkdirSync(dir)
  const inside = await writeIn(bench, { tier, why, ...choice }, join(worktree, 'file'))
  expect(
    existsSync(join(worktree, 'file')),
    `${why}, but a program in it cannot write its worktree: ${inside}`,
  )
  await writeIn(bench, { tier, why, ...choice }, join(beside, 'file'))
  expect(!existsSync(join(beside, 'file')), `${why}, but a program in it wrote beside its worktree`)
  return `T1: ${why}; it let a program write its worktree, and nothing beside it`
}

/** Has a program in the sandbox write a file, and returns what it complained of. */
async function writeIn(
  { app, folder, home, env }: Bench,
  choice: Awaited<ReturnType<typeof findSandbox>>,
  file: string,
): Promise<string> {
  const worktree = join(folder, 'worktree')
  const policy = policyFor({
    worktree,
    cwd: worktree,
    runFolder: worktree,
    commonDir: null,
    worktreeGitDir: null,
    root: folder,
    automaton: join(folder, 'automaton'),
    automatonHome: join(home, '.automaton'),
    loopDir: join(folder, 'loop'),
    userHome: home,
    uid: userInfo().uid,
    harnessWrites: [],
    otherWrites: [],
    self: app.self,
    path: [],
    temporary: [],
    real: realDestination,
    tmp: join(folder, 'tmp'),
  })
  const argv = [...app.self, partVerb, 'write', file]
  using wrapped = wrapCommand({ choice, policy, argv, path: env.PATH ?? '', self: app.self })
  const run = await exec({
    argv: wrapped.argv,
    cwd: worktree,
    env: { ...env, ...wrapped.env },
    timeoutMs: limitMs,
    signal: app.signal,
  })
  return run.stderr.trim()
}
