const seconds: Record<string, number> = { d: 86_400, h: 3600, m: 60, s: 1 }

/** No limit lasts longer; what says so is not a time to wait for. In days. */
const longestDays = 31

/**
 * Until when a message asks to wait, as ISO-8601, or null: "try again in 1h 2m", "resets 3pm (Europe/Berlin)",
 * "try again at Jan 5th, 2026 3:04 PM", "limit reached|1767625440". Times without a zone are this machine's.
 * `at` (ISO-8601) is when the message came.
 */
export function retryTime(message: string, at: string): string | null {
  const now = Date.parse(at)
  if (Number.isNaN(now)) return null
  const text = message.slice(0, 4096)
  return untilIso(epoch(text) ?? waiting(text, now) ?? wallClock(text, now), now)
}

/** A moment in milliseconds as ISO-8601, if it is one to wait for. */
export function untilIso(until: number | null, now: number): string | null {
  if (until === null || !(until > now) || until - now > longestDays * 86_400_000) return null
  return new Date(until).toISOString()
}

function epoch(text: string): number | null {
  const found = /\|(\d{10})\b/.exec(text)
  return found ? Number(found[1]) * 1000 : null
}

/** "in 20s", "after 2h3m4.5s", "in 3 days 4 hours 5 minutes". */
function waiting(text: string, now: number): number | null {
  const unit = '(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)'
  const span = `\\d+(?:\\.\\d+)?\\s?${unit}(?![a-z])`
  const lead = '(?:again|retry|resets?|available)\\s(?:in|after)\\s'
  const found = new RegExp(
    `${lead}((?:${span}|\\d+(?:\\.\\d+)?[dhms](?=\\d)|[\\s,]|and\\s){1,16})`,
    'i',
  ).exec(text)
  if (!found) return null
  const parts = [...(found[1] ?? '').matchAll(/(\d+(?:\.\d+)?)\s?([dhms])/gi)]
  const total = parts.reduce(
    (sum, [, number, letter]) => sum + Number(number) * (seconds[(letter ?? '').toLowerCase()] ?? 0),
    0,
  )
  return total > 0 ? now + total * 1000 : null
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** "at 10:06 PM", "resets Oct 6, 1pm (America/New_York)": the next moment at which that clock shows that time. */
function wallClock(text: string, now: number): number | null {
  const day = '([a-z]{3})[a-z]*\\s(\\d{1,2})(?:st|nd|rd|th)?,?(?:\\s(\\d{4}))?(?:,|\\sat)?\\s'
  const clock = '(\\d{1,2})(?::(\\d\\d))?\\s?([ap])m\\b(?:\\s\\(([\\w+/-]{2,40})\\))?'
  const found = new RegExp(`(?:again at|resets?(?: at)?)\\s(?:${day})?${clock}`, 'i').exec(text)
  if (!found) return null
  const [, month, date, year, hour, minute, half, zone] = found
  const offset = offsetOf(zone, now)
  if (offset === null) return null
  const here = new Date(now + offset)
  const inMonth = month === undefined ? here.getUTCMonth() : months.indexOf(month.toLowerCase())
  if (inMonth < 0) return null
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0)
  const on = (inYear: number, inDay: number) =>
    Date.UTC(inYear, inMonth, inDay, hours, Number(minute ?? 0)) - offset
  if (month === undefined) {
    const today = on(here.getUTCFullYear(), here.getUTCDate())
    return today > now ? today : today + 86_400_000
  }
  const first = on(Number(year ?? here.getUTCFullYear()), Number(date))
  return first > now || year !== undefined ? first : on(here.getUTCFullYear() + 1, Number(date))
}

/** How far the zone's clock is ahead of UTC at that moment, in milliseconds; null for a zone that nobody knows. */
function offsetOf(zone: string | undefined, now: number): number | null {
  if (zone === undefined) return -new Date(now).getTimezoneOffset() * 60_000
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
    const part = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = part
    const wall = Date.UTC(year, month - 1, day, hour, minute)
    return wall - Math.floor(now / 60_000) * 60_000
  } catch {
    return null
  }
}
