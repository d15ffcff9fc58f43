import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import { keepingRun } from '../runner/run-kept.ts'
import { completeAhead, load, salvageState } from '../store/journal.ts'
import { type LoopPlaces, loopPlaces, type Project } from '../store/layout.ts'
import { acquire } from '../store/lock.ts'
import { requireLoop } from '../store/loops.ts'
import { writeTask } from '../store/tasks.ts'

/** How long a command waits for a loop that is busy, in milliseconds. */
export const lockWaitMs = 5000

/** The files of a loop that exists. Throws `bad_name` and `no_loop`. */
export function existingLoop(project: Project, name: string): LoopPlaces {
  const places = loopPlaces(project, name)
  requireLoop(project, name)
  return places
}

/**
 * Runs something while nobody else can change the loop. An unfinished write of the last writer is completed first.
 * Throws `busy` after five seconds, `in_tick` for a session that exchanged the project's folders meanwhile, and `state_damaged` for a loop without state.
 */
export async function withLoop<T>(
  app: App,
  places: LoopPlaces,
  use: (state: LoopState) => T | Promise<T>,
): Promise<T> {
  const lock = await acquire(places.lock, { waitMs: lockWaitMs })
  if (lock.busy) throw errors.busy(places.name, lock.holder)
  await using _held = lock
  await app.permit()
  return await keepingRun(places, () => use(stateOf(app.project(), places)))
}

/** The loop's state, finished if its last writer died between log and state. The caller holds the lock. */
export function stateOf(project: Project, places: LoopPlaces): LoopState {
  const state = stateOrNull(project, places)
  if (state) return state
  throw errors.stateDamaged(places.state, 'it is missing, and so is the log', places.name)
}

/** The same; null for a loop that has neither state nor log. */
export function stateOrNull(project: Project, places: LoopPlaces): LoopState | null {
  const loaded = load(places, { repair: true })
  if (loaded.kind === 'untracked') return null
  if (!loaded.ahead) return loaded.state
  if (loaded.ahead.task) writeTask(project, loaded.ahead.task)
  return completeAhead(places, loaded)
}

/** Switches the loop's unit on or off, as its status is now. What fails is said and changes nothing. The caller holds the lock. */
export async function followLoop(app: App, places: LoopPlaces): Promise<void> {
  // Most loops of most people have no unit: nothing is loaded for those.
  if ((salvageState(places)?.schedule.kind ?? null) === null) return
  const { followStatus } = await import('../runner/schedule.ts')
  await followStatus(places, await app.deps())
}
