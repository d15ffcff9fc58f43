import { userInfo } from 'node:os'
import { AutomatonError } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import { distrust } from '../system/own-programs.ts'
import type { Deps } from './deps.ts'
import type { Setting } from './setting.ts'

/**
 * Has automaton run none of its own programs, git above all, out of folders that this loop's sessions can write: the
 * project, what `harness.writes` opens, and what the agent needs. One on PATH would be a way out of every sandbox.
 */
export async function distrustWritable(
  { config, repo }: Pick<Setting, 'config' | 'repo'>,
  deps: Deps,
): Promise<void> {
  const home = deps.env.HOME ?? userInfo().homedir
  const writes = config ? [...config.harness.writes, ...(await adapterWrites(config, deps))] : []
  const given = writes.map((path) => (path.startsWith('~/') ? home + path.slice(1) : path))
  distrust([deps.project.root, ...(repo ? [repo.toplevel] : []), ...given])
}

/** The folders that the loop's agent declares. An agent that cannot be set up is told elsewhere. */
export async function adapterWrites({ harness }: LoopConfig, { host }: Deps): Promise<readonly string[]> {
  if (harness.command) return []
  try {
    return (await host.harness(harness.use, {})).writes
  } catch (error) {
    if (error instanceof AutomatonError) return []
    throw error
  }
}
