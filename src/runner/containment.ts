import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { loadLoopConfig } from '../config/loop.ts'
import type { LoopConfig } from '../machine/config.ts'
import { readBounded } from '../store/atomic.ts'
import { loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { checkoutDir } from '../system/checkout.ts'
import { realDestination, realPath } from '../system/real-path.ts'
import { removeTree } from '../system/remove.ts'
import { policyFor, type SandboxPolicy } from '../system/sandbox/policy.ts'
import { findSandbox, type SandboxChoice } from '../system/sandbox/tier.ts'
import { unwrapped, type WrappedCommand, wrapCommand } from '../system/sandbox/wrap.ts'
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
  const { writes, env, argv } = program
  // A policy follows the links of hundreds of places, for nothing where there is nothing to hold anybody with.
  if (scene.sandbox.kind === 'none') return unwrapped(argv)
  return wrapCommand({
    choice: scene.sandbox,
    policy: policyOf({ scene, site, writes, path: env.PATH }),
    argv,
    path: env.PATH ?? '',
    self: scene.deps.self,
  })
}

/** What {@link policyOf} is drawn for. */
export interface PolicyScope {
  scene: Pick<Scene, 'deps' | 'places' | 'repo' | 'config' | 'run'>
  site: Pick<Site, 'kind' | 'root' | 'cwd'>
  /** Folders that the program must write, besides those of `loop.json`. */
  writes: readonly string[]
  /** The PATH that the program gets. */
  path: string | undefined
}

/** What a loop's sandbox is to let a program do. */
export function policyOf({ scene, site, writes, path }: PolicyScope): SandboxPolicy {
  const { deps, places, repo, config, run } = scene
  return policyFor({
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
    harnessWrites: [...writes, ...config.harness.writes],
    otherWrites: otherWrites(deps.project, places.name),
    self: deps.self,
    path: [deps.env.PATH, path].flatMap((folders) => folders?.split(delimiter) ?? []),
    temporary: ['/tmp', tmpdir()],
    real: realDestination,
    tmp: join(realDestination(tmpdir()), `${temporaryPrefix(run)}${randomBytes(4).toString('hex')}`),
  })
}

/** What `loop.json` opens to the sessions of the project's other loops. One that cannot be read opens nothing: it does not tick. */
function otherWrites(project: Project, own: string): string[] {
  const names = listLoops(project).filter((name) => name !== own)
  return names.flatMap((loop) => {
    const file = loopPlaces(project, loop).config
    try {
      return loadLoopConfig({ file, text: readBounded(file, 1 << 20) ?? '', loop }).config.harness.writes
    } catch {
      return []
    }
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
