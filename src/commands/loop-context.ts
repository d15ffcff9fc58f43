import type { App } from '../app.ts'
import { contextFloor, type RoleContext } from '../machine/budget.ts'
import type { Detection } from '../machine/cards.ts'
import { contextsOf } from '../runner/context.ts'
import { readSetting } from '../runner/setting.ts'
import type { ServerWord } from '../system/vram/servers/ask.ts'
import type { LoopFacts } from './loop-facts.ts'

/** How much context each role of a loop has, and how that is known. */
export interface LoopContext {
  roles: RoleContext[]
  /** No role is below the floor. */
  ok: boolean
  /** What a probe found; null where it did not matter. */
  detected: Pick<Detection, 'bytes' | 'source' | 'device' | 'memory' | 'at'> | null
  /** What the server that `config.md` names said; null where none is named. */
  server: ServerWord | null
}

/** The context windows of a loop; null when its `loop.json` or `config.md` cannot be read, or inside a session, whose PATH is not the person's. */
export async function loopContext(
  app: App,
  facts: LoopFacts,
  known?: Detection,
): Promise<LoopContext | null> {
  const { places, state } = facts
  if (app.inTick) return null
  const deps = await app.deps()
  const setting = readSetting(places, deps.project, app.home)
  const { config } = setting
  if (!config) return null
  const phase = state?.current_phase ?? null
  const { roles, memory, server } = await contextsOf({
    config,
    setting,
    phase,
    deps,
    ...(known ? { memory: known } : {}),
  })
  const ok = roles.every(({ effective }) => effective >= contextFloor)
  return { roles, ok, detected: memory && seen(memory), server }
}

function seen({ bytes, source, device, memory, at }: Detection): LoopContext['detected'] {
  return { bytes, source, device, memory, at }
}
