/** When a loop last ticked, and how often it should. */
export interface DueInput {
  /** The start of the last tick, ISO-8601; null: never. */
  lastTickAt: string | null
  intervalSeconds: number
  /** `not_before` of the state. */
  notBefore?: string | null
  now: Date
}

/** The longest that a loop waits for an agent's limit to end, in milliseconds: what is further off is a mistake. */
export const longestWaitMs = 24 * 3_600_000

/**
 * Whether a scheduled tick has work to do. Schedulers are a little early at times, so up to 30 seconds (at most half
 * the interval) are forgiven. A last tick in the future means that the clock was set back: then the loop is due.
 */
export function isDue(of: DueInput): boolean {
  if (waitMs(of) > 0) return false
  const elapsed = elapsedSeconds(of)
  if (elapsed === null || elapsed < 0) return true
  return elapsed >= of.intervalSeconds - Math.min(30, of.intervalSeconds / 2)
}

/** When the loop should tick next, a full interval after the last start; never before `now`. */
export function nextDue(of: DueInput): Date {
  const elapsed = elapsedSeconds(of)
  const left = elapsed === null || elapsed < 0 ? 0 : Math.max(0, of.intervalSeconds - elapsed) * 1000
  return new Date(of.now.getTime() + Math.max(left, waitMs(of)))
}

/**
 * When a limit ends, as the state keeps it: at most a day from now. Null for a text that is no time and for one that
 * has passed: waiting for it would be a retry without an end.
 */
export function waitUntil(retryAt: string | undefined, now: Date): string | null {
  const ms = retryAt === undefined ? Number.NaN : Date.parse(retryAt) - now.getTime()
  return ms > 0 ? new Date(now.getTime() + Math.min(ms, longestWaitMs)).toISOString() : null
}

/** Milliseconds to `notBefore`; 0 without one. One that is further off than any wait was set by another clock. */
function waitMs({ notBefore, now }: DueInput): number {
  const ms = notBefore ? Date.parse(notBefore) - now.getTime() : 0
  return ms > 0 && ms <= longestWaitMs ? ms : 0
}

function elapsedSeconds({ lastTickAt, now }: DueInput): number | null {
  const last = lastTickAt === null ? Number.NaN : Date.parse(lastTickAt)
  return Number.isNaN(last) ? null : (now.getTime() - last) / 1000
}
