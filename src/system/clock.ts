/** Where time comes from; tests hand in their own. */
export interface Clock {
  /** Wall-clock time. It can jump either way. */
  now(): Date
  /** The same as ISO-8601 UTC with milliseconds. */
  iso(): string
  /** Seconds from an arbitrary start that never run backwards; for durations and time limits. */
  seconds(): number
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  iso: () => new Date().toISOString(),
  seconds: () => Bun.nanoseconds() / 1e9,
}
