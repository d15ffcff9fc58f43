import { type Role, roles } from '../api/harness.ts'
import type { Phase } from '../api/work.ts'
import { type RoleContext, roleContext, servedTokens } from '../machine/budget.ts'
import type { Detection } from '../machine/cards.ts'
import type { LoopConfig } from '../machine/config.ts'
import { resolveModel } from '../machine/models.ts'
import type { ServerWord } from '../system/vram/servers/ask.ts'
import type { Deps } from './deps.ts'
import { type MemoryDeps, memoryOf } from './memory.ts'
import type { Setting } from './setting.ts'

/** The context windows of a loop's roles, and what they were worked out from. */
export interface Contexts {
  roles: RoleContext[]
  /** Null where it did not matter. */
  memory: Detection | null
  /** Null where none is named, or it did not matter. */
  server: ServerWord | null
}

/** What a loop's windows depend on. */
export interface ContextInput {
  config: LoopConfig
  setting: Pick<Setting, 'machine' | 'models'>
  phase: Phase | null
  deps: MemoryDeps & Pick<Deps, 'host'>
  /** A look that was made already; absent: the last one, or a new one. */
  memory?: Detection
}

/** Works out the context windows of a loop's roles. Looks at this machine only where that can change one. */
export async function contextsOf(input: ContextInput): Promise<Contexts> {
  const { config, setting, phase, deps } = input
  const { machine, models } = setting
  const remoteHarness = config.harness.command === null && (await deps.host.isRemote(config.harness.use))
  const override = (role: Role) => machine.contextOverride[role] ?? machine.contextOverride.all
  const open =
    machine.backend === 'remote' || remoteHarness ? [] : roles.filter((role) => override(role) === null)
  const server = open.length > 0 ? await serverOf(machine) : null
  const served = (role: Role) => {
    const tokens = servedTokens(server?.models ?? [], resolveModel({ role, phase, config, models }))
    return tokens === null || !server ? null : { tokens, via: serverName(server) }
  }
  const memory = open.some((role) => served(role) === null) ? (input.memory ?? (await memoryOf(deps))) : null
  const detected = memory?.bytes && memory.source ? { bytes: memory.bytes, via: memory.source } : null
  const contexts = roles.map((role) =>
    roleContext({
      role,
      tier: config.roles[role].tier,
      override: override(role),
      backend: machine.backend,
      remoteHarness,
      served: served(role),
      detected,
    }),
  )
  return { roles: contexts, memory, server }
}

/** Asks the server that a person named, or nobody. */
export async function serverOf(machine: Setting['machine']): Promise<ServerWord | null> {
  if (!machine.server) return null
  const { askServer } = await import('../system/vram/servers/ask.ts')
  return askServer(machine.server)
}

function serverName({ kind, url }: ServerWord): string {
  return `${kind ?? 'server'} at ${url}`
}
