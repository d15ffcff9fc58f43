/** Steps in minutes that fill an hour evenly, the longest first. */
const steps = [60, 30, 20, 15, 12, 10, 6, 5, 4, 3, 2, 1]

/**
 * How often a unit calls the tick, in minutes: the longest step of at most an hour that divides the interval. A tick that
 * is not due yet skips itself, so a longer interval only costs a few starts. A step as long as a day would cost days: a
 * run that came late, after a sleep, makes the next one too early, and so would the shorter day when clocks go forward.
 * Throws for an interval that is not whole minutes.
 */
export function stepMinutes(intervalSeconds: number): number {
  const minutes = intervalSeconds / 60
  if (!Number.isSafeInteger(minutes) || minutes < 1) {
    throw new Error(
      `an interval of ${intervalSeconds} seconds is not whole minutes: automaton daemon keeps it`,
    )
  }
  return steps.find((step) => minutes % step === 0) ?? 1
}

/** The minutes of an hour at which a step falls: 20 gives 0, 20 and 40. */
export function minutesOfHour(step: number): number[] {
  return Array.from({ length: 60 / step }, (_, index) => index * step)
}
