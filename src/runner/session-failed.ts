import type { Role } from '../api/harness.ts'

/** A session ended badly in the middle of a step; the tick records it and counts it in `consecutive_errors`. */
export class SessionFailed extends Error {
  override readonly name = 'SessionFailed'
  constructor(
    readonly role: Role,
    readonly failure: { why: string; fix: string },
    /** What the session was caught at, `tamper:<what>`. */
    readonly tamper: string[],
  ) {
    super(`${role}: ${failure.why}`)
  }
}
