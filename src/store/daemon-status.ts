import { rmSync } from 'node:fs'
import * as v from 'valibot'
import { readBounded, writeAtomic } from './atomic.ts'

const loopStatuses = ['ticking', 'running', 'paused', 'halted', 'complete', 'unreadable'] as const

const DaemonStatusSchema = v.object({
  schema: v.literal(1),
  pid: v.number(),
  started_at: v.pipe(v.string(), v.isoTimestamp()),
  /** When this was written: at least every 10 seconds. */
  at: v.pipe(v.string(), v.isoTimestamp()),
  /** Ticks that ended. */
  ticks: v.number(),
  loops: v.array(
    v.object({
      loop: v.string(),
      /** The state's, or `ticking`; `unreadable` when state or configuration cannot be used. */
      status: v.picklist(loopStatuses),
      /** ISO-8601 UTC; null: not as things are. */
      next_tick_at: v.nullable(v.string()),
      /** Why it does not tick. */
      detail: v.nullable(v.string()),
    }),
  ),
})

/** What a daemon says of itself in the file of `--status-file`. */
export type DaemonStatus = v.InferOutput<typeof DaemonStatusSchema>

const largest = 1 << 20

/** Writes the file, whole or not at all. Everybody may read it: who checks a container may be another user. */
export function writeDaemonStatus(file: string, status: DaemonStatus): void {
  writeAtomic(file, `${JSON.stringify(status, null, 2)}\n`, 0o644)
}

/** What the file says; null when there is none, or when it is not a daemon's. */
export function readDaemonStatus(file: string): DaemonStatus | null {
  try {
    const read = v.safeParse(DaemonStatusSchema, JSON.parse(readBounded(file, largest) ?? 'null'))
    return read.success ? read.output : null
  } catch {
    return null
  }
}

/** Takes the file away: the daemon has ended. */
export function removeDaemonStatus(file: string): void {
  rmSync(file, { force: true })
}
