/** A crontab schedule; `exact` is false when it fires more often than asked and `--scheduled` skips until due. */
export type CronPeriod = { expression: string; exact: boolean } | { refused: string }

/** The crontab schedule for an interval in seconds: the longest period that cron can keep and that divides it. */
export function cronPeriod(seconds: number): CronPeriod {
  if (!Number.isSafeInteger(seconds) || seconds < 60)
    return { refused: `cron cannot run every ${seconds} seconds` }
  if (seconds % 60 !== 0) return { refused: `${seconds} seconds are not whole minutes` }
  const minutes = seconds / 60
  const period = cronMinutes.find((candidate) => minutes % candidate === 0) ?? 1
  return { expression: expressionOf(period), exact: period === minutes }
}

/** Steps that cron keeps evenly: a step of 7 minutes would fire at :56 and again at :00. Longest first. */
const cronMinutes = [
  1440,
  ...[12, 8, 6, 4, 3, 2, 1].map((hours) => hours * 60),
  ...[30, 20, 15, 12, 10, 6, 5, 4, 3, 2, 1],
]

function expressionOf(minutes: number): string {
  if (minutes === 1) return '* * * * *'
  if (minutes < 60) return `*/${minutes} * * * *`
  if (minutes === 60) return '0 * * * *'
  return minutes === 1440 ? '0 0 * * *' : `0 */${minutes / 60} * * *`
}
