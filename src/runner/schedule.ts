import { join } from 'node:path'
import type { Scheduler, SchedulerContext, Unit } from '../api/scheduler.ts'
import { AutomatonError, errors } from '../errors.ts'
import type { ListedPlugin } from '../plugin/host.ts'
import { ensureFolder } from '../store/atomic.ts'
import { salvageState } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { acquire } from '../store/lock.ts'
import { forgetUnit } from '../store/project-book.ts'
import { noteScheduled } from '../store/scheduled-log.ts'
import { systemName } from '../system/platform.ts'
import type { Deps } from './deps.ts'
import { foreignScript } from './schedule-record.ts'
import { schedulerContext } from './scheduler-tools.ts'
import { readSetting } from './setting.ts'

/** One loop's unit, and the scheduler that has it. */
export interface ScheduledUnit {
  scheduler: string
  unit: Unit
}

/** What is asked of a scheduler. */
export type ScheduleCall<T> = (scheduler: Scheduler, unit: Unit, ctx: SchedulerContext) => Promise<T>

/** The scheduler of this system, where nobody names another. */
export const nativeScheduler = { darwin: 'launchd', win32: 'schtasks' }[systemName] ?? 'cron'

/** The unit that a loop should have. */
export function unitOf(places: LoopPlaces, project: { root: string }, intervalSeconds: number): Unit {
  return { loop: places.name, project: project.root, script: places.script, intervalSeconds }
}

/**
 * Asks a scheduler to change something, no two automatons of this user at once: a crontab is one file for all loops.
 * Throws `plugin_unknown`, `plugin_failed`, `scheduler_missing` and `schedule_failed`.
 */
export async function withScheduler<T>(
  deps: Deps,
  { scheduler, unit }: ScheduledUnit,
  call: ScheduleCall<T>,
): Promise<T> {
  const plugin = await deps.host.scheduler(scheduler, {})
  const folder = join(deps.home, '.automaton', 'cache')
  ensureFolder(folder)
  const lock = await acquire(join(folder, 'schedulers.lock'), { waitMs: lockWaitMs, folder: false })
  if (lock.busy) {
    throw errors.scheduleFailed(unit.loop, scheduler, `another automaton is at it (${lock.holder})`)
  }
  using _held = lock
  return await explained(deps, { scheduler, unit }, () => call(plugin, unit, contextOf(deps, unit)))
}

/**
 * Removes a unit. Where the plugin that installed it is gone nobody can, and a loop must not be bound to it for ever:
 * then the unit stays, and what is returned says so. Throws as {@link withScheduler} does.
 */
export async function removeUnit(deps: Deps, { scheduler, unit }: ScheduledUnit): Promise<string | null> {
  if (deps.host.missing('scheduler', scheduler)) {
    return `the unit of ${scheduler} for ${unit.project} is left as it is: that plugin is gone, and only it can remove it`
  }
  await withScheduler(deps, { scheduler, unit }, (plugin, one, ctx) => plugin.remove(one, ctx))
  forgetUnit(deps.home, { root: unit.project, loop: unit.loop })
  return null
}

/** Looks at a loop's unit; nobody needs to wait for that. Throws as {@link withScheduler} does. */
export async function inspectUnit(deps: Deps, { scheduler, unit }: ScheduledUnit) {
  const plugin = await deps.host.scheduler(scheduler, {})
  return explained(deps, { scheduler, unit }, () => plugin.inspect(unit, contextOf(deps, unit)))
}

/**
 * Makes the loop's unit follow its status: on for a loop that runs, off for any other. What fails is said, noted in
 * `scheduled.log`, and changes nothing: the gate refuses the ticks of a loop that does not run. The caller holds the
 * loop's lock. Returns the warnings.
 */
export async function followStatus(places: LoopPlaces, deps: Deps): Promise<string[]> {
  const state = salvageState(places)
  const scheduler = state?.schedule.kind ?? null
  if (!state || scheduler === null) return []
  const on = state.schedule.enabled
  try {
    // What a session left in its place would run with every right of the person.
    const foreign = on ? foreignScript(places) : null
    if (foreign !== null) throw errors.scheduleFailed(places.name, scheduler, foreign)
    const { config } = readSetting(places, deps.project, deps.home)
    // Switching off must work with whatever is in loop.json.
    const unit = unitOf(places, deps.project, config?.schedule.interval_seconds ?? anyInterval)
    // Also at the end of a tick that was told to stop.
    const patient = { ...deps, signal: new AbortController().signal }
    await withScheduler(patient, { scheduler, unit }, (plugin, unit, ctx) =>
      on ? plugin.enable(unit, ctx) : plugin.disable(unit, ctx),
    )
    return []
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const fix = on ? `automaton install-schedule ${places.name}` : 'automaton doctor'
    const warning = `the schedule could not be switched ${on ? 'on' : 'off'}: ${why}; fix: ${fix}`
    deps.progress(warning)
    return [warning, ...noted(places, deps, warning)]
  }
}

/**
 * For what may halt, pause or complete a loop: afterwards, when it no longer runs, its unit is switched off. A unit that
 * started a tick of such a loop all the same is switched off again.
 */
export function followingStatus(places: LoopPlaces, deps: Deps): AsyncDisposable {
  const before = salvageState(places)?.status
  return {
    async [Symbol.asyncDispose]() {
      const now = salvageState(places)?.status
      const isNews = now !== before || deps.byScheduler
      if (now !== undefined && now !== 'running' && isNews) await followStatus(places, deps)
    },
  }
}

const lockWaitMs = 20_000
const anyInterval = 3600

/** A built-in scheduler that fails has met something of the system's: nobody can put that right in a plugin. */
async function explained<T>(
  { host }: Deps,
  { scheduler, unit }: ScheduledUnit,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const [prefix] =
      error instanceof AutomatonError ? (/^plugin "[^"]*" failed in \w+: /.exec(error.message) ?? []) : []
    const isOurs = host
      .list()
      .some((one) => one.name === scheduler && one.role === 'scheduler' && isServing(one))
    if (prefix === undefined || !isOurs || !(error instanceof Error)) throw error
    throw errors.scheduleFailed(unit.loop, scheduler, error.message.slice(prefix.length), error)
  }
}

function isServing({ origin, replacedBy }: ListedPlugin): boolean {
  return origin === 'built-in' && replacedBy === null
}

function contextOf(deps: Deps, { loop }: Unit): SchedulerContext {
  return schedulerContext({ loop, fromTick: deps.byScheduler }, deps)
}

/** On a full disk there is nowhere to write it. */
function noted(places: LoopPlaces, deps: Deps, warning: string): string[] {
  try {
    noteScheduled(places, deps.clock.iso(), warning)
    return []
  } catch (error) {
    return [`scheduled.log: ${error instanceof Error ? error.message : String(error)}`]
  }
}
