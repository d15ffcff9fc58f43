import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import type { LoopConfig } from '../machine/config.ts'
import { checkoutDir } from '../system/checkout.ts'
import { realDestination, realPath } from '../system/real-path.ts'
import { removeTree } from '../system/remove.ts'
import { policyFor } from '../system/sandbox/policy.ts'
import { findSandbox, type SandboxChoice } from '../system/sandbox/tier.ts'
import { type WrappedCommand, wrapCommand } from '../system/sandbox/wrap.ts'
import { runFolder } from '../system/snapshot.ts'
import type { Deps } from './deps.ts'
import type { Scene, Site } from './scene.ts'

/** A program that a session or a verifier runs. */
export interface Contained {
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  /** Folders of its own that it must write. */
  writes: readonly string[]
}

/** The sandbox that a loop asks for, as this machine can give it. */
export function sandboxOf(config: LoopConfig, deps: Pick<Deps, 'env'>): Promise<SandboxChoice> {
  return findSandbox({ path: deps.env.PATH ?? '', mode: config.blast_radius.sandbox })
}

/** Puts a program into the tick's sandbox; without one it stays as it is. Dispose when its processes have ended. */
export function contain(scene: Scene, site: Site, program: Contained): WrappedCommand {
  const { deps, places, repo, config } = scene
  const policy = policyFor({
    worktree: site.root,
    cwd: site.cwd,
    runFolder: join(site.cwd, runFolder),
    commonDir: repo?.commonDir ?? null,
    worktreeGitDir: repo && site.kind === 'worktree' ? checkoutDir(repo, site.root) : null,
    root: deps.project.root,
    automaton: deps.project.automaton,
    automatonHome: deps.home,
    loopDir: places.dir,
    userHome: deps.env.HOME ?? userInfo().homedir,
    uid: userInfo().uid,
    harnessWrites: [...program.writes, ...config.harness.writes],
    self: deps.self,
    path: [deps.env.PATH, program.env.PATH].flatMap((path) => path?.split(delimiter) ?? []),
    temporary: ['/tmp', tmpdir()],
    real: realDestination,
    tmp: join(realPath(tmpdir()), `${temporaryPrefix(scene.run)}${randomBytes(4).toString('hex')}`),
  })
  return wrapCommand({
    choice: scene.sandbox,
    policy,
    argv: program.argv,
    path: program.env.PATH ?? '',
    self: deps.self,
  })
}

/** Removes the private temporary folders that a dead tick left. */
export function removeTemporary(run: string): void {
  const folder = realPath(tmpdir())
  for (const name of readdirSync(folder)) {
    if (name.startsWith(temporaryPrefix(run))) removeTree(join(folder, name))
  }
}

function temporaryPrefix(run: string): string {
  return `automaton-${run}-`
}
