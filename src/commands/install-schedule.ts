import type { UnitState } from '../api/scheduler.ts'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import { refusedInterval } from '../machine/due.ts'
import { scheduleLoop } from '../machine/loop.ts'
import type { LoopState } from '../machine/state.ts'
import type { Deps } from '../runner/deps.ts'
import {
  inspectUnit,
  nativeScheduler,
  removeUnit,
  type ScheduledUnit,
  unitOf,
  withScheduler,
} from '../runner/schedule.ts'
import { recordedSchedule } from '../runner/schedule-record.ts'
import { readSetting } from '../runner/setting.ts'
import { unitLeftBehind } from '../runner/unit-check.ts'
import { commit } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { noteUnit } from '../store/project-book.ts'
import { readRun } from '../store/run.ts'
import { sha256 } from '../system/digest.ts'
import { existingLoop, withLoop } from './held.ts'
import { wantedScript, writeInterval, writeScript } from './schedule-files.ts'

/** What a person wants; null leaves it as it is. */
export interface InstallOptions {
  loop: string
  interval: number | null
  scheduler: string | null
}

/** The schedule that there is now. */
export interface InstallReport {
  loop: string
  scheduler: string
  interval_seconds: number
  script: string
  /** False for a loop that does not run: its unit comes when it is approved or resumed. */
  enabled: boolean
  /** What was written; empty when all was there already. */
  changed: string[]
  warnings: string[]
}

/**
 * Installs a loop's schedule: interval, tick script, unit, each only where it is not there yet, and the unit read back.
 * Throws `usage` for an interval that no scheduler keeps, `wrong_status` for a loop that is complete, and
 * `schedule_failed`; then the state still says what was there before.
 */
export async function installSchedule(app: App, o: InstallOptions): Promise<InstallReport> {
  const places = existingLoop(app.project(), o.loop)
  const deps = await app.deps()
  return withLoop(app, places, async (state) => {
    const config = configOf(app, places, state)
    const scheduler = known(deps, o.scheduler ?? state.schedule.kind ?? nativeScheduler)
    const seconds = intervalOf(places.name, o.interval ?? config.schedule.interval_seconds)
    const script = wantedScript(app, places, config)
    const changed = [...writeInterval(places, config, seconds), ...writeScript(places, script.text)]
    const unit = { scheduler, unit: unitOf(places, deps.project, seconds) }
    const isOn = state.status === 'running'
    const found = await putUnit(deps, unit, isOn)
    const old = await removeOld({ deps, places, state, unit })
    record({ app, places, state, scheduler, script: script.text })
    noteUnit(app.home, { root: deps.project.root, loop: places.name, scheduler })
    return {
      loop: places.name,
      scheduler,
      interval_seconds: seconds,
      script: places.script,
      enabled: isOn,
      changed: [...changed, ...(found.changed ? [`the unit of ${scheduler}`] : []), ...old.removed],
      warnings: [...script.warnings, ...found.warnings, ...old.left],
    }
  })
}

/** The loop's configuration, where it may have a schedule. */
function configOf(app: App, places: LoopPlaces, state: LoopState): LoopConfig {
  const { name, config: file } = places
  if (state.status === 'complete') {
    throw errors.wrongStatus(name, 'schedule', 'complete', `automaton status ${name}; it never ticks again`)
  }
  // Recovery compares these files with what they were when that tick began.
  if (readRun(places) !== null)
    throw errors.busy(name, `its last tick did not finish; automaton tick ${name}`)
  const { config, problem } = readSetting(places, app.project(), app.home)
  if (!config) throw problem ?? errors.badConfig(file, 'the whole file', 'missing', 'one JSON object')
  const { kind } = config.schedule
  if (kind === 'native') return config
  const who = kind === 'daemon' ? 'the daemon alone ticks it' : 'nothing ticks it by itself'
  throw errors.usage(
    `no schedule (${name})`,
    `loop.json says schedule.kind "${kind}": ${who}`,
    `set schedule.kind to "native" in ${file}`,
  )
}

function known({ host }: Deps, scheduler: string): string {
  const missing = host.missing('scheduler', scheduler)
  if (missing) throw errors.usage('bad option (--scheduler)', missing.message, 'automaton plugins')
  return scheduler
}

function intervalOf(loop: string, seconds: number): number {
  const why = refusedInterval(seconds)
  if (why === null) return seconds
  throw errors.usage(
    'bad option (--interval)',
    `${why}, and no scheduler keeps that`,
    `give whole minutes, or use automaton daemon ${loop}`,
  )
}

/** Installs the unit, or sees to it that a loop which does not run has none that is on; then looks whether it is so. */
async function putUnit(
  deps: Deps,
  unit: ScheduledUnit,
  isOn: boolean,
): Promise<{ changed: boolean; warnings: string[] }> {
  const before = await inspectUnit(deps, unit)
  if (isAsWanted(before, isOn)) return { changed: false, warnings: before.warnings ?? [] }
  await withScheduler(deps, unit, (plugin, one, ctx) =>
    isOn ? plugin.install(one, ctx) : plugin.disable(one, ctx),
  )
  const after = await inspectUnit(deps, unit)
  if (isAsWanted(after, isOn)) return { changed: true, warnings: after.warnings ?? [] }
  const { scheduler } = unit
  const why = after.drift[0] ?? `after it was ${isOn ? 'installed' : 'switched off'}, it is not`
  throw errors.scheduleFailed(unit.unit.loop, scheduler, why)
}

function isAsWanted({ installed, enabled, drift }: UnitState, isOn: boolean): boolean {
  return isOn ? installed && enabled && drift.length === 0 : !enabled
}

/** Removes the unit that another scheduler has, and one that a moved project left behind. */
async function removeOld(o: {
  deps: Deps
  places: LoopPlaces
  state: LoopState
  unit: ScheduledUnit
}): Promise<{ removed: string[]; left: string[] }> {
  const { deps, places, state, unit } = o
  const old = state.schedule.kind
  const removed: string[] = []
  const left: string[] = []
  if (old === null) return { removed, left }
  const stale = unitLeftBehind(places, deps.project)
  const gone = [
    ...(old === unit.scheduler ? [] : [{ what: `the unit of ${old}, removed`, unit: unit.unit }]),
    ...(stale ? [{ what: `the unit for ${stale.project}, removed`, unit: stale }] : []),
  ]
  for (const { what, unit } of gone) {
    const stays = await removeUnit(deps, { scheduler: old, unit })
    if (stays === null) removed.push(what)
    else left.push(stays)
  }
  return { removed, left }
}

/** Remembers whose the unit is, and what the script said; not where the log says so already. */
function record(o: {
  app: App
  places: LoopPlaces
  state: LoopState
  scheduler: string
  script: string
}): void {
  const { app, places, state, scheduler } = o
  const at = app.clock.iso()
  const next = scheduleLoop(state, scheduler, at)
  const script = sha256(o.script)
  const project = app.project().root
  const isKnown = Bun.deepEquals(recordedSchedule(places), { script, project })
  if (isKnown && Bun.deepEquals(next.schedule, state.schedule)) return
  const data = { scheduler, script, project }
  commit(places, state, next, { type: 'schedule', run: null, by: 'human', at, data })
}
