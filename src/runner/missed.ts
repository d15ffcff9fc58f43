import { AutomatonError } from '../errors.ts'
import { missedTicks } from '../machine/due.ts'
import type { LoopState } from '../machine/state.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { lastScheduled, noteScheduled } from '../store/scheduled-log.ts'
import type { Progress } from '../system/progress.ts'

/** Says once, in `scheduled.log`, how many ticks the scheduler left out before this one. */
export function noteMissed(
  places: LoopPlaces,
  o: { state: LoopState; intervalSeconds: number; now: Date; progress: Progress },
): void {
  try {
    note(places, o)
  } catch (error) {
    // Where it cannot be written is no reason not to tick.
    if (!(error instanceof AutomatonError)) throw error
    o.progress(error.message)
  }
}

function note(places: LoopPlaces, o: { state: LoopState; intervalSeconds: number; now: Date }): void {
  const { state, now } = o
  // A tick that was refused has run: it left a line.
  const line = lastScheduled(places)?.split(' ', 1)[0] ?? ''
  const since = [state.updated_at, state.not_before ?? '', line].filter(isTime).sort().at(-1)
  if (since === undefined || state.last_tick_at === null) return
  const missed = missedTicks({ ...o, since })
  if (missed === 0) return
  const what = missed === 1 ? 'a tick was' : `${missed} ticks were`
  noteScheduled(
    places,
    now.toISOString(),
    `${what} missed since ${since}: the machine slept, or nobody ran the schedule`,
  )
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
}
