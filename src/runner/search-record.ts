import { clearRun, writeRun } from '../store/run.ts'
import { identifySelf } from '../system/process.ts'
import type { Search } from './scene.ts'

/** run.json of a tick that still looks for work. */
export interface SearchRecord extends Disposable {
  /** Written before a program of the source starts, so that the next tick ends it if this one is killed. */
  write(): void
}

/** Makes no file before the first `write`; disposing of it takes the file away, for then nothing runs any more. */
export function searchRecord(scene: Search, stateSeq: number): SearchRecord {
  let isWritten = false
  return {
    write() {
      if (isWritten) return
      isWritten = true
      writeRun(scene.places, {
        schema: 1,
        run: scene.run,
        loop: scene.places.name,
        tick: scene.tick,
        task: null,
        phase: null,
        step: 'find',
        automaton: identifySelf(),
        // Its programs are known by the run's id in their environment.
        session: null,
        started_at: scene.startedAt,
        state_seq: stateSeq,
        before: { head: null, verified_sha: null, base_sha: null },
        brakes: {},
        repository: null,
        usage: scene.ledger.usage(),
      })
    },
    [Symbol.dispose]() {
      if (isWritten) clearRun(scene.places)
    },
  }
}
