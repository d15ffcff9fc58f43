import { plainReason, readBounded } from '../store/atomic.ts'
import { readLog } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { sha256 } from '../system/digest.ts'

/** What the log says of the last installation: the SHA-256 of the tick script, and where the project was. */
export function recordedSchedule(places: LoopPlaces): { script: string | null; project: string | null } {
  const { script, project } = readLog(places).findLast((record) => record.type === 'schedule')?.data ?? {}
  return {
    script: typeof script === 'string' ? script : null,
    project: typeof project === 'string' ? project : null,
  }
}

/** Why a loop's tick script cannot be taken for the one that was installed; null where it is that one. */
export function foreignScript(places: LoopPlaces): string | null {
  try {
    const text = readBounded(places.script, longest)
    if (text === null) return 'its tick script is missing'
    if (sha256(text) !== recordedSchedule(places).script) return 'its tick script is not as it was installed'
    return null
  } catch (error) {
    return `its tick script cannot be read: ${plainReason(error)}`
  }
}

/** Why nothing ticks a loop that has a schedule, as far as its own files tell; null where they tell of nothing. */
export function brokenSchedule(places: LoopPlaces, { root }: { root: string }): string | null {
  const { project } = recordedSchedule(places)
  if (project !== null && project !== root) return `its schedule was installed for ${project}`
  return foreignScript(places)
}

const longest = 1 << 20
