import { statSync } from 'node:fs'
import type { LoopPlaces } from '../store/layout.ts'
import { filesOfTick } from '../store/outputs.ts'
import type { RunRecord } from '../store/run.ts'

/**
 * How many seconds a dead tick is known to have run: until now when something of it still `lived`, else until the last
 * time that it, or its session, wrote a file of the tick. A loop whose ticks always die is held by
 * `max_wall_seconds` all the same.
 */
export function lostSeconds(o: { places: LoopPlaces; run: RunRecord; lived: boolean; now: Date }): number {
  const now = o.now.getTime()
  const last = o.lived ? now : Math.min(now, lastSign(o.places, o.run.tick))
  const ran = (last - Date.parse(o.run.started_at)) / 1000
  return Math.max(ran, 0)
}

/** In milliseconds of the epoch; 0 when nothing is left. */
function lastSign(places: LoopPlaces, tick: number): number {
  const files = [places.run, ...filesOfTick(places, tick)]
  const times = files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return Math.max(...times)
}
