import type { GenericSchema, InferOutput } from 'valibot'
import type { Harness } from './harness.ts'
import type { Hooks } from './hooks.ts'
import type { Scheduler } from './scheduler.ts'
import type { Verifier } from './verdict.ts'
import type { Source } from './work.ts'

/** The four roles that a plugin can fill. */
export const pluginRoles = ['source', 'verifier', 'harness', 'scheduler'] as const

/** One of {@link pluginRoles}. */
export type PluginRole = (typeof pluginRoles)[number]

/** What `setup` returns: one or more roles, and hooks. */
export interface PluginRoles {
  source?: Source
  verifier?: Verifier
  harness?: Harness
  scheduler?: Scheduler
  hooks?: Hooks
}

/** What `setup` gets. */
export interface SetupContext<Options> {
  /** The options of loop.json, checked against the plugin's schema. */
  options: Options
}

/** A plugin as its author writes it. */
export interface PluginDefinition<Schema extends GenericSchema = GenericSchema> {
  /** The name that loop.json uses, `^[a-z0-9][a-z0-9-]{0,62}$`. A user plugin replaces a built-in of its name. */
  name: string
  /** The version of this contract. */
  api: 1
  /**
   * The one role that it fills, so that plugins of one name can fill different roles (the built-in verifier `command`
   * and harness `command`). `hooks`: it is set up only where `notify` of `.automaton/config.json` names it. Absent: whatever `setup` returns, in place of every earlier plugin of the name.
   */
  role?: PluginRole | 'hooks'
  /** A valibot schema of the options; absent: no options. */
  options?: Schema
  /** Makes the roles from the options. A harness is set up without waiting: for it, return no promise. */
  setup(ctx: SetupContext<InferOutput<Schema>>): PluginRoles | Promise<PluginRoles>
}

/** A plugin as the host holds it, its option type erased. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where the option type is erased
export type Plugin = PluginDefinition<any>

/** Gives a plugin its types. The default export of a plugin file is what this returns. */
export function definePlugin<const Schema extends GenericSchema>(
  definition: PluginDefinition<Schema>,
): PluginDefinition<Schema> {
  return definition
}
