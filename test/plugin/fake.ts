import { definePlugin, type Plugin, type PluginRoles } from '../../src/api/index.ts'
import { AutomatonError } from '../../src/errors.ts'
import { createHost, type Host } from '../../src/plugin/host.ts'

/** A plugin `x` that returns these roles. */
export function plugin(roles: PluginRoles | Promise<PluginRoles>, change: Partial<Plugin> = {}): Plugin {
  return definePlugin({ name: 'x', api: 1, setup: () => roles, ...change })
}

/** A host of these plugins that is short of patience. */
export function hostOf(...plugins: Plugin[]): Host {
  return createHost({ builtins: plugins, log() {}, limits: { find: 20, hook: 20, setup: 20 } })
}

/** Something that a plugin answers against the types. */
export function wrong<T>(value: unknown): T {
  return value as T
}

/** The error of automaton that a promise ends with. */
export async function failureOf(run: Promise<unknown>): Promise<AutomatonError> {
  const error = await run.catch((error: unknown) => error)
  if (error instanceof AutomatonError) return error
  throw new Error(`no error of automaton: ${String(error)}`)
}
