import { dirname } from 'node:path'
import * as v from 'valibot'
import type { Phase } from '../api/work.ts'
import { errors } from '../errors.ts'
import { isPassing } from '../system/passing.ts'
import type { ProcessIdentity } from '../system/process.ts'
import { removeTree } from '../system/remove.ts'
import type { RepositoryRecord } from '../system/tripwire.ts'
import { plainReason, readBytes, syncFolder, writeAtomic } from './atomic.ts'
import type { LoopPlaces } from './layout.ts'
import { firstIssue, RunRecordSchema } from './schema.ts'

/** `run.json`: what a tick that works is doing. It is there while the tick runs, and after one that died. */
export interface RunRecord {
  schema: 1
  /** Names the run; sessions carry it as AUTOMATON_RUN_ID. */
  run: string
  loop: string
  tick: number
  /** Null while the tick still looks for work; so is the phase. */
  task: string | null
  phase: Phase | null
  step: 'find' | 'implement' | 'verify' | 'orchestrate' | 'settle'
  /** The process of the tick itself. */
  automaton: ProcessIdentity
  /** The session that runs now: its process, its process group, and when it started. */
  session: { pid: number; group: number; start: string } | null
  started_at: string
  /** `seq` of the state that the tick began from. */
  state_seq: number
  /** Commit ids before the first session. */
  before: { head: string | null; verified_sha: string | null; base_sha: string | null }
  /** Hashes of what sessions must not touch, by name. */
  brakes: Record<string, string>
  /** The repository's refs, settings and hooks before the step; null without git. */
  repository: RepositoryRecord | null
  /** Spent so far; `unreported` counts the sessions that did not say what they cost. */
  usage: { usd: number | null; tokens: number; unreported: number }
}

/** What a dead or living tick left; a record that holds something else is a problem to report, not an error. */
export function readRun(places: LoopPlaces): RunRecord | { problem: string } | null {
  try {
    const bytes = readBytes(places.run, runLimit)
    if (!bytes) return null
    const read = v.safeParse(RunRecordSchema, JSON.parse(bytes.toString('utf8')))
    return read.success ? read.output : { problem: firstIssue(read.issues) }
  } catch (error) {
    if (isPassing(error)) throw errors.readFailed(places.run, plainReason(error), error)
    return { problem: plainReason(error) }
  }
}

/** Writes the record, to last. */
export function writeRun(places: LoopPlaces, record: RunRecord): void {
  writeAtomic(places.run, `${JSON.stringify(record, null, 2)}\n`)
}

/** Says that nothing is left to recover. Fine when there is no record. */
export function clearRun(places: LoopPlaces): void {
  try {
    // Recursive: a folder that somebody put here must not keep the loop from ever running again.
    removeTree(places.run)
    syncFolder(dirname(places.run))
  } catch (error) {
    throw errors.writeFailed(places.run, plainReason(error), error)
  }
}

const runLimit = 1 << 24

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
// Does not compile when schema and type part.
true satisfies Same<v.InferOutput<typeof RunRecordSchema>, RunRecord>
