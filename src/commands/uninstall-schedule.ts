import { rmSync } from 'node:fs'
import type { App } from '../app.ts'
import { AutomatonError, errors } from '../errors.ts'
import { scheduleLoop } from '../machine/loop.ts'
import type { LoopState } from '../machine/state.ts'
import type { Deps } from '../runner/deps.ts'
import { keepingRun } from '../runner/run-kept.ts'
import { inspectUnit, nativeScheduler, removeUnit, type ScheduledUnit, unitOf } from '../runner/schedule.ts'
import { unitLeftBehind } from '../runner/unit-check.ts'
import { commit, salvageState } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { acquire } from '../store/lock.ts'
import { existingLoop, lockWaitMs, stateOrNull } from './held.ts'
import { scriptText } from './schedule-files.ts'

/** What was taken away. */
export interface UninstallReport {
  loop: string
  /** Whose unit it was; null when there was none. */
  scheduler: string | null
  /** What was removed, in words; empty when there was nothing. */
  removed: string[]
  /** Units that stay, and why; without the tick script they do nothing. */
  warnings: string[]
}

/**
 * Removes a loop's unit and its tick script, and nothing else; also for a loop whose state is damaged. Throws `busy`, and
 * `schedule_failed` when the unit stays.
 */
export async function uninstallSchedule(app: App, { loop }: { loop: string }): Promise<UninstallReport> {
  const places = existingLoop(app.project(), loop)
  const deps = await app.deps()
  const lock = await acquire(places.lock, { waitMs: lockWaitMs })
  if (lock.busy) throw errors.busy(loop, lock.holder)
  await using _held = lock
  return await keepingRun(places, () => takeAway({ app, deps, places, loop }))
}

async function takeAway({
  app,
  deps,
  places,
  loop,
}: {
  app: App
  deps: Deps
  places: LoopPlaces
  loop: string
}): Promise<UninstallReport> {
  const state = wholeState(app, places)
  const kind = (state ?? salvageState(places))?.schedule.kind ?? null
  // The interval does not matter to what is taken away.
  const unit = { scheduler: kind ?? nativeScheduler, unit: unitOf(places, deps.project, 3600) }
  const hasUnit = kind !== null || (await isStray(deps, unit))
  const stays = hasUnit ? await removeUnit(deps, unit) : null
  const stale = kind === null ? null : unitLeftBehind(places, deps.project)
  const staleStays = stale ? await removeUnit(deps, { ...unit, unit: stale }) : null
  const isGone = hasUnit && stays === null
  const removed = [...(isGone ? [`the unit of ${unit.scheduler}`] : []), ...removeScript(places)]
  const warnings = [stays, staleStays].filter((left) => left !== null)
  if (state && kind !== null) {
    const at = app.clock.iso()
    const data = { scheduler: null, script: null, project: null }
    const entry = { type: 'schedule', run: null, by: 'human', at, data }
    commit(places, state, scheduleLoop(state, null, at), entry)
  }
  return { loop, scheduler: hasUnit ? unit.scheduler : null, removed, warnings }
}

/** The state, where it can be written; a damaged one is left to `repair`. */
function wholeState(app: App, places: LoopPlaces): LoopState | null {
  try {
    return stateOrNull(app.project(), places)
  } catch (error) {
    if (error instanceof AutomatonError) return null
    throw error
  }
}

/** A unit that the state knows nothing of, since the state was lost. */
async function isStray(deps: Deps, unit: ScheduledUnit): Promise<boolean> {
  try {
    return (await inspectUnit(deps, unit)).installed
  } catch (error) {
    // Nobody installed one, as far as is known: that a scheduler cannot be asked is no fault then.
    if (error instanceof AutomatonError) return false
    throw error
  }
}

function removeScript(places: LoopPlaces): string[] {
  if (scriptText(places) === null) return []
  rmSync(places.script, { force: true })
  return [places.script]
}
