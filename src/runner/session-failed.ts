import type { Role } from '../api/harness.ts'
import type { Halt } from '../machine/state.ts'

/** A session ended badly in the middle of a step; the tick records it and counts it in `consecutive_errors`. */
export class SessionFailed extends Error {
  override readonly name = 'SessionFailed'
  constructor(
    readonly role: Role,
    readonly failure: { why: string; fix: string },
    /** The halt for what it was caught at besides; null for an honest one. */
    readonly halt: Halt | null,
  ) {
    super(`${role}: ${failure.why}`)
  }
}
