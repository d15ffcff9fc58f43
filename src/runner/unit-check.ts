import { existsSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Unit, UnitState } from '../api/scheduler.ts'
import type { LoopConfig } from '../machine/config.ts'
import type { LoopState } from '../machine/state.ts'
import { readBounded } from '../store/atomic.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { isWindows } from '../system/platform.ts'
import { which } from '../system/process.ts'
import type { Deps } from './deps.ts'
import { inspectUnit, unitOf } from './schedule.ts'
import { foreignScript, recordedSchedule } from './schedule-record.ts'
import { readShellScript } from './tick-script.ts'

/** A loop whose unit is looked at. */
export interface CheckedLoop {
  places: LoopPlaces
  state: LoopState
  config: LoopConfig | null
}

/**
 * What the system's scheduler holds for a loop, with what is wrong with its tick script among the drift. Null for a loop
 * without a schedule. Throws where the scheduler cannot be asked.
 */
export async function checkUnit(
  deps: Deps,
  { places, state, config }: CheckedLoop,
): Promise<UnitState | null> {
  const scheduler = state.schedule.kind
  if (scheduler === null) return null
  const unit = unitOf(places, deps.project, config?.schedule.interval_seconds ?? 3600)
  const found = await inspectUnit(deps, { scheduler, unit })
  return { ...found, drift: [...found.drift, ...scriptDrift(places)] }
}

/** The unit that calls a script which is gone, since the project's folder was moved; null where there is none. */
export function unitLeftBehind(places: LoopPlaces, { root }: { root: string }): Unit | null {
  const { project } = recordedSchedule(places)
  if (project === null || project === root) return null
  const script = join(project, relative(root, places.script))
  return existsSync(script) ? null : { loop: places.name, project, script, intervalSeconds: 3600 }
}

/** What a loop's tick script runs and sees; null where there is none that automaton wrote. */
export function installedScript(places: LoopPlaces): ReturnType<typeof readShellScript> {
  try {
    return isWindows ? null : readShellScript(readBounded(places.script, longest) ?? '')
  } catch {
    return null
  }
}

const longest = 1 << 20

function scriptDrift(places: LoopPlaces): string[] {
  const foreign = foreignScript(places)
  if (foreign !== null) return [foreign]
  const mode = statSync(places.script).mode & 0o777
  if (!isWindows && mode !== 0o700) return [`its tick script has the mode ${mode.toString(8)}, and not 700`]
  const program = installedScript(places)?.self[0]
  const isGone = program !== undefined && which(program, '') === null
  return isGone ? [`its tick script starts ${program}, which is gone`] : []
}
