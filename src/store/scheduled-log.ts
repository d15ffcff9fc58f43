import { existsSync } from 'node:fs'
import { readBounded, writeAtomic } from './atomic.ts'
import type { LoopPlaces } from './layout.ts'

const keptLines = 200
const readLimit = 1 << 20

/** Writes down why a scheduled tick did not run: one line, where `status` and `doctor` find it. Old lines go. */
export function noteScheduled(places: LoopPlaces, at: string, why: string): void {
  const line = `${at} ${why.replaceAll(/\s+/g, ' ').slice(0, 1000)}`
  const before = existsSync(places.scheduledLog) ? (readBounded(places.scheduledLog, readLimit) ?? '') : ''
  const lines = [...before.split('\n').filter((text) => text !== ''), line]
  writeAtomic(places.scheduledLog, `${lines.slice(-keptLines).join('\n')}\n`)
}
