import { isDeepStrictEqual } from 'node:util'
import type { Role } from '../api/harness.ts'
import type { LoopState } from '../machine/state.ts'
import { clearRun, type RunRecord, readRun, writeRun } from '../store/run.ts'
import { identifySelf } from '../system/process.ts'
import type { Scene, Site, Work } from './scene.ts'

/** Keeps run.json true while sessions run, so that a tick that dies can be cleaned up after and charged. */
export interface Journalist {
  /** Writes what is about to happen, before it happens. */
  step(step: RunRecord['step'], before: Pick<RunRecord, 'brakes' | 'repository'>): void
  /** Adds the process of a session that has just started. */
  spawned(role: Role, who: { pid: number; group: number; start: string }): void
  /** Adds what the tick's sessions have cost so far. */
  charged(): void
  /** What run.json should say, and whether nobody else has written it; null when there is nothing to recover. */
  look(): { run: RunRecord; isKept: boolean } | null
  /** Nothing is left to recover. */
  done(): void
}

/** A journalist for one tick; the first `step` makes run.json. */
export function journalist(o: { scene: Scene; state: LoopState; work: Work; site: Site }): Journalist {
  const { scene, state, work, site } = o
  /** What was last written for certain; a write that failed may have come through or not. */
  let written: RunRecord | null = null
  let isTouched = false
  let record: RunRecord = {
    schema: 1,
    run: scene.run,
    loop: scene.places.name,
    tick: scene.tick,
    task: work.task,
    phase: work.phase,
    step: 'implement',
    automaton: identifySelf(),
    session: null,
    started_at: scene.startedAt,
    state_seq: state.seq,
    before: { head: site.start, verified_sha: state.verified_sha, base_sha: state.base_sha },
    brakes: {},
    repository: null,
    usage: scene.ledger.usage(),
  }
  /** A session can write the file, so what it should say is in memory. */
  const look = () => {
    const now = readRun(scene.places)
    if (now === null && written === null) return null
    isTouched ||= ![written, record].some((known) => isDeepStrictEqual(now, known))
    return { run: record, isKept: !isTouched }
  }
  const write = (change: Partial<RunRecord>) => {
    look()
    record = { ...record, ...change }
    writeRun(scene.places, record)
    written = record
  }
  return {
    step: (step, before) => write({ step, ...before, session: null }),
    // Only these: a record with anything else in it would not be believed when it is read again.
    spawned: (_role, { pid, group, start }) => write({ session: { pid, group, start } }),
    charged: () => write({ session: null, usage: scene.ledger.usage() }),
    look,
    done: () => clearRun(scene.places),
  }
}
