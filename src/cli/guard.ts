import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { Input } from './input.ts'
import type { Verb } from './verb.ts'

/** Refuses a verb inside a tick, from the environment alone: nothing has been read yet. */
export function checkTick(verb: Verb, env: Readonly<Record<string, string | undefined>>): void {
  if (env.AUTOMATON_IN_TICK === undefined || verb.inTick) return
  throw errors.inTick(verb.name)
}

/** Refuses what the environment could have turned against the person who started it. */
export async function checkEnvironment(verb: Verb, app: App): Promise<void> {
  if (!verb.strict) return
  const { unsafeVariable } = await import('../system/environment.ts')
  const name = unsafeVariable(app.env)
  if (name !== null) throw errors.unsafeEnvironment(name)
}

/** Refuses a verb that changes something when a running session is among its ancestors, whatever the variables say. */
export async function checkSession(verb: Verb, app: App, input: Input, pid: number): Promise<void> {
  if (verb.readOnly || (verb.inTick && app.inTick)) return
  const { belongsToSession } = await import('../commands/session.ts')
  if (belongsToSession(app, pid, verb.changesHome?.(input) ?? false)) throw errors.inTick(verb.name)
}

/**
 * Refuses to write in a project one of whose folders is a link: what lies there may be another project's, and a
 * repository may bring such a link along.
 */
export async function checkFolders(verb: Verb, app: App): Promise<void> {
  if (verb.readOnly) return
  const { linkedFolder } = await import('../commands/session.ts')
  const linked = linkedFolder(app)
  if (linked !== null) throw errors.linkedFolder(linked)
}
