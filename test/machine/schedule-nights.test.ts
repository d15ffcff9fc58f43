import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cronPeriod } from '../../plugins/schedulers/cron-period.ts'
import { isDue, missedTicks } from '../../src/machine/due.ts'

const minute = 60_000
const hour = 60 * minute
const own = process.env.TZ

beforeAll(() => {
  // Clocks go from 2:00 to 3:00 on 29 March 2026, and from 3:00 to 2:00 on 25 October.
  process.env.TZ = 'Europe/Berlin'
})
afterAll(() => {
  if (own === undefined) delete process.env.TZ
  else process.env.TZ = own
})

/** When a crontab with the expression of this interval would call, minute by minute, while the machine is awake. */
function* calls(o: { from: Date; to: Date; seconds: number; awake?(at: Date): boolean }): Generator<Date> {
  const period = cronPeriod(o.seconds)
  if ('refused' in period) throw new Error(period.refused)
  const [minutes = '', hours = ''] = period.expression.split(' ')
  for (let at = o.from.getTime(); at < o.to.getTime(); at += minute) {
    const now = new Date(at)
    const matches = fits(minutes, now.getMinutes()) && fits(hours, now.getHours())
    if (matches && (o.awake?.(now) ?? true)) yield now
  }
}

function fits(field: string, value: number): boolean {
  if (field === '*') return true
  return field.startsWith('*/') ? value % Number(field.slice(2)) === 0 : value === Number(field)
}

/** The ticks that come of those calls: each starts a moment after its call, which differs from call to call. */
function ticks(seconds: number, times: Iterable<Date>): Date[] {
  const run: Date[] = []
  let last: string | null = null
  let moment = 0
  for (const time of times) {
    moment = (moment + 1700) % 3000
    const now = new Date(time.getTime() + moment)
    if (!isDue({ lastTickAt: last, intervalSeconds: seconds, now })) continue
    last = now.toISOString()
    run.push(time)
  }
  return run
}

const gaps = (times: Date[]) =>
  times.slice(1).map((time, i) => (time.getTime() - (times[i]?.getTime() ?? 0)) / 1000)
const day = (text: string) => new Date(`${text}T00:00:00`)

/** Each interval of the table, and how often it ticks in the first seven days of June, from the first call on. */
const table: [seconds: number, inAWeek: number][] = [
  [60, 7 * 1440],
  [300, 7 * 288],
  [420, 1440],
  [2100, 288],
  [2700, 224],
  [3600, 168],
  [5400, 112],
  [7200, 84],
  [86_400, 7],
  [90_000, 7],
]

describe('a loop that cron calls', () => {
  test.each(table)(
    'every %p s ticks %p times in a week, each time after exactly its interval',
    (seconds, count) => {
      const week = ticks(seconds, calls({ from: day('2026-06-01'), to: day('2026-06-08'), seconds }))
      expect(week).toHaveLength(count)
      expect(new Set(gaps(week))).toEqual(new Set([seconds]))
    },
  )

  test.each([
    [3600, 23, 25],
    [5400, 16, 17],
    [7200, 11, 12],
    [43_200, 2, 2],
    [86_400, 1, 1],
  ])(
    'every %p s ticks %p times on the shortest day of the year and %p times on the longest',
    (seconds, spring, autumn) => {
      const around = (from: string, on: string, to: string) =>
        ticks(seconds, calls({ from: day(from), to: day(to), seconds })).filter(
          (time) => time >= day(on) && time < new Date(day(to).getTime() - 24 * hour),
        )
      expect(around('2026-03-27', '2026-03-29', '2026-03-31')).toHaveLength(spring)
      expect(around('2026-10-23', '2026-10-25', '2026-10-27')).toHaveLength(autumn)
    },
  )

  test.each([60, 3600, 7200, 86_400])(
    'every %p s has no gap over twice its interval in a whole year',
    (seconds) => {
      const from = seconds === 60 ? '2026-10-20' : '2026-01-01'
      const to = seconds === 60 ? '2026-10-30' : '2027-01-01'
      const year = ticks(seconds, calls({ from: day(from), to: day(to), seconds }))
      expect(Math.max(...gaps(year))).toBeLessThan(2 * seconds)
      expect(Math.min(...gaps(year))).toBeGreaterThanOrEqual(seconds < 7200 ? seconds : seconds - 3600)
    },
  )

  test('ticks once after a sleep of eight hours, and says how many were missed', () => {
    const from = day('2026-06-01')
    const woke = new Date(from.getTime() + 10 * hour + 20 * minute)
    const asleep = (at: Date) => at.getTime() - from.getTime() > 2 * hour && at < woke
    // A scheduler that makes up for what it missed calls at once, and anacron-like ones for each call.
    const late = Array.from({ length: 8 }, (_, i) => new Date(woke.getTime() + i * 50))
    const all = [
      ...calls({ from, to: woke, seconds: 3600, awake: (at) => !asleep(at) }),
      ...late,
      ...calls({ from: woke, to: day('2026-06-02'), seconds: 3600 }),
    ].sort((a, b) => a.getTime() - b.getTime())
    const run = ticks(3600, all)
    const around = run.filter((at) => at.getTime() >= woke.getTime() && at.getTime() < woke.getTime() + hour)
    expect(around).toHaveLength(1)
    const since = new Date(from.getTime() + 2 * hour).toISOString()
    expect(missedTicks({ since, intervalSeconds: 3600, now: woke })).toBe(7)
  })

  test('ticks once when the clock is put back a day, or forward, and goes on from there', () => {
    const calledAt = (text: string) => new Date(text)
    const back = [
      '2026-06-02T10:00',
      '2026-06-02T11:00',
      '2026-06-01T11:05',
      '2026-06-01T11:06',
      '2026-06-01T12:05',
    ]
    expect(ticks(3600, back.map(calledAt)).map((at) => at.getDate() * 100 + at.getHours())).toEqual([
      210, 211, 111, 112,
    ])
    const forward = ['2026-06-01T10:00', '2026-06-04T10:30', '2026-06-04T10:31', '2026-06-04T11:30']
    expect(ticks(3600, forward.map(calledAt))).toHaveLength(3)
  })
})

describe('missed ticks', () => {
  test.each([
    [3600, 3600, 0],
    [3600, 7169, 0],
    [3600, 7170, 1],
    [3600, 8 * 3600, 7],
    [60, 90, 1],
    [60, 89, 0],
    [3600, -500, 0],
  ])('of an interval of %p s after %p s are %p', (intervalSeconds, elapsed, missed) => {
    const now = new Date('2026-06-02T10:00:00.000Z')
    const since = new Date(now.getTime() - elapsed * 1000).toISOString()
    expect(missedTicks({ since, intervalSeconds, now })).toBe(missed)
  })
})
