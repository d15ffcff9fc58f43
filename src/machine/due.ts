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
 * the interval) are forgiven. A last tick further in the future means that the clock was set back: then the loop is due.
 */
export function isDue(of: DueInput): boolean {
  if (waitMs(of) > 0) return false
  const elapsed = elapsedSeconds(of)
  if (elapsed === null) return true
  return elapsed + wallShift(of) >= of.intervalSeconds - earlySeconds(of.intervalSeconds)
}

/** When the loop should tick next, a full interval after the last start; never before `now`. */
export function nextDue(of: DueInput): Date {
  const elapsed = elapsedSeconds(of)
  const left = elapsed === null ? 0 : Math.max(0, of.intervalSeconds - elapsed) * 1000
  return new Date(of.now.getTime() + Math.max(left, waitMs(of)))
}

/**
 * How many ticks a scheduler left out before the one that it starts now: it slept, was off, or was told to be. `since` is
 * when the loop last did anything, ISO-8601.
 */
export function missedTicks({ since, intervalSeconds, now }: MissedInput): number {
  const elapsed = (now.getTime() - Date.parse(since)) / 1000
  return Math.max(0, Math.floor((elapsed + earlySeconds(intervalSeconds)) / intervalSeconds) - 1)
}

/** What {@link missedTicks} counts from. */
export interface MissedInput {
  since: string
  intervalSeconds: number
  now: Date
}

/**
 * When a limit ends, as the state keeps it: at most a day from now. Null for a text that is no time and for one that
 * has passed: waiting for it would be a retry without an end.
 */
export function waitUntil(retryAt: string | undefined, now: Date): string | null {
  const ms = retryAt === undefined ? Number.NaN : Date.parse(retryAt) - now.getTime()
  return ms > 0 ? new Date(now.getTime() + Math.min(ms, longestWaitMs)).toISOString() : null
}

/**
 * Why no schedule is installed for an interval; null where one can be. Schedulers count in minutes: what is shorter, or
 * between two minutes, only a process that is always there can keep.
 */
export function refusedInterval(seconds: number): string | null {
  if (!Number.isSafeInteger(seconds) || seconds < 60) return `${seconds} seconds are less than a minute`
  return seconds % 60 === 0 ? null : `${seconds} seconds are not whole minutes`
}

/**
 * How many seconds the clock on the wall has gone ahead of time since the last tick, in the night in which it is put
 * forward. A crontab counts by that clock: without this, a daily loop would be an hour short of its day then, and wait
 * for the next one. Only where cron's period is two hours or more; shorter ones lose nothing.
 */
function wallShift({ lastTickAt, intervalSeconds, now }: DueInput): number {
  if (lastTickAt === null || intervalSeconds < 7200) return 0
  return Math.max(0, (new Date(lastTickAt).getTimezoneOffset() - now.getTimezoneOffset()) * 60)
}

/** How much too early a scheduler may be. */
function earlySeconds(intervalSeconds: number): number {
  return Math.min(30, intervalSeconds / 2)
}

/** Milliseconds to `notBefore`; 0 without one. One that is further off than any wait was set by another clock. */
function waitMs({ notBefore, now }: DueInput): number {
  const ms = notBefore ? Date.parse(notBefore) - now.getTime() : 0
  return ms > 0 && ms <= longestWaitMs ? ms : 0
}

/**
 * Since the last tick; null when there was none, or when the clock has been set back since. A clock that is corrected by
 * some seconds, as after a sleep, is no such thing: the calls that were waiting would all be due.
 */
function elapsedSeconds({ lastTickAt, intervalSeconds, now }: DueInput): number | null {
  const last = lastTickAt === null ? Number.NaN : Date.parse(lastTickAt)
  const elapsed = (now.getTime() - last) / 1000
  return elapsed >= -earlySeconds(intervalSeconds) ? elapsed : null
}
