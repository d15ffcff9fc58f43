import type { Role, SessionErrorKind } from '../api/harness.ts'
import type { Halt } from '../machine/state.ts'

/** Why a session counts as failed, and what a person can do. */
export interface Failure {
  why: string
  fix: string
  /** What the harness says of it; null when it says nothing. */
  kind: SessionErrorKind | null
  /** When a limit ends, as the harness says it. */
  retryAt?: string
}

/** A session ended badly in the middle of a step; the tick records it and counts it in `consecutive_errors`. */
export class SessionFailed extends Error {
  override readonly name = 'SessionFailed'
  constructor(
    readonly role: Role,
    readonly failure: Failure,
    /** The halt for what it was caught at besides; null for an honest one. */
    readonly halt: Halt | null,
  ) {
    super(`${role}: ${failure.why}`)
  }
}
