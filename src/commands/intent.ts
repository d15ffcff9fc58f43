import { closeSync, constants, openSync, writeSync } from 'node:fs'
import type { App, InTick } from '../app.ts'
import { errors } from '../errors.ts'
import type { Intent } from '../machine/intent.ts'
import { codeOf, plainReason } from '../store/atomic.ts'

/** The operation that the session named. */
export interface IntentReport {
  intent: Intent
}

/**
 * Leaves the orchestrate session's one operation for the runner, which checks and applies it when the session has
 * ended. The file is created exclusively, so that a second operation cannot be named. Throws `intent_role`,
 * `intent_exists` and `usage`.
 */
export function leaveIntent(o: {
  tick: InTick
  verb: string
  task: string | null
  intent: Intent
}): IntentReport {
  const { tick, verb, task, intent } = o
  if (tick.role !== 'orchestrate' || !tick.intent) throw errors.intentRole(verb, tick.role || 'unknown')
  if (task !== null && task !== tick.task) {
    const fix = `automaton ${verb} ${tick.task ?? ''}`.trim()
    throw errors.usage(`another task (${task})`, `this session is for ${tick.task ?? 'none'}`, fix)
  }
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
  try {
    const fd = openSync(tick.intent, flags, 0o600)
    try {
      writeSync(fd, `${JSON.stringify(intent)}\n`)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw errors.intentExists(tick.intent)
    throw errors.writeFailed(tick.intent, plainReason(error), error)
  }
  return { intent }
}

/** The tick around this call. Throws `usage` for a person, who has other ways. */
export function tickAround(app: App, verb: string, instead: string): InTick {
  if (app.inTick) return app.inTick
  throw errors.usage(`not inside a tick (automaton ${verb})`, 'it is for the orchestrate session', instead)
}
