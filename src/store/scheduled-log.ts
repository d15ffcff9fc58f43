import { existsSync } from 'node:fs'
import { readBounded, writeAtomic } from './atomic.ts'
import type { LoopPlaces } from './layout.ts'

const keptLines = 200
const readLimit = 1 << 20

/** Writes down why a scheduled tick did not run: one line, where `status` and `doctor` find it. Old lines go. */
export function noteScheduled(places: LoopPlaces, at: string, why: string): void {
  const line = `${at} ${why.replaceAll(/\s+/g, ' ').slice(0, 1000)}`
  writeAtomic(places.scheduledLog, `${[...linesIn(places), line].slice(-keptLines).join('\n')}\n`)
}

/** The last line, which starts with its time in ISO-8601; null when there is none. Throws `read_failed`. */
export function lastScheduled(places: LoopPlaces): string | null {
  return linesIn(places).at(-1) ?? null
}

function linesIn({ scheduledLog }: LoopPlaces): string[] {
  const text = existsSync(scheduledLog) ? (readBounded(scheduledLog, readLimit) ?? '') : ''
  return text.split('\n').filter((line) => line !== '')
}
