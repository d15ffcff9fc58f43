import { isDue, nextDue } from './due.ts'

/** A loop that runs, as the daemon sees it. */
export interface Turn {
  loop: string
  intervalSeconds: number
  /** `last_tick_at` of the state. */
  lastTickAt: string | null
  /** `not_before` of the state. */
  notBefore: string | null
  /** Seconds since this daemon last started a tick of the loop; Infinity: never. */
  sinceStart: number
  /** Its sessions work in the person's own checkout, which two of them must not share. */
  inCheckout: boolean
}

/** What to start now, and how long to wait when nothing else happens. */
export interface Turns {
  start: Turn[]
  waitMs: number
}

/** A refused tick leaves no trace in the state and stays due: seconds until it is tried again. */
const retrySeconds = 30
/** Configuration and state are read again at least so often. */
const longestWaitMs = 10_000
const shortestWaitMs = 50

/**
 * Whose turn it is: the loops that are due, the one that waited longest first, as many as there is room for. However
 * long the machine slept, a loop that is due is started once.
 */
export function turns(o: {
  waiting: readonly Turn[]
  ticking: readonly Pick<Turn, 'inCheckout'>[]
  parallel: number
  now: Date
}): Turns {
  const { waiting, ticking, parallel, now } = o
  const start: Turn[] = []
  let checkoutIsFree = !ticking.some(({ inCheckout }) => inCheckout)
  const due = waiting.filter((turn) => dueInMs(turn, now) <= 0)
  for (const turn of due.toSorted(byWait)) {
    if (ticking.length + start.length >= parallel) break
    if (turn.inCheckout && !checkoutIsFree) continue
    if (turn.inCheckout) checkoutIsFree = false
    start.push(turn)
  }
  const next = Math.min(longestWaitMs, ...waiting.map((turn) => dueInMs(turn, now)).filter((ms) => ms > 0))
  return { start, waitMs: Math.max(shortestWaitMs, next) }
}

/** When a loop's turn comes, as far as can be said; `now` for one that is due. */
export function turnAt(turn: Turn, now: Date): Date {
  return new Date(now.getTime() + Math.max(0, dueInMs(turn, now)))
}

function dueInMs({ intervalSeconds, lastTickAt, notBefore, sinceStart }: Turn, now: Date): number {
  const when = { lastTickAt, intervalSeconds, notBefore, now }
  if (!isDue(when)) return nextDue(when).getTime() - now.getTime()
  return (Math.min(retrySeconds, intervalSeconds / 2) - sinceStart) * 1000
}

/** Those that never ticked here come first, by when they last ticked at all, and by name: the order is always the same. */
function byWait(a: Turn, b: Turn): number {
  if (a.sinceStart !== b.sinceStart) return b.sinceStart - a.sinceStart
  const [first, second] = [a.lastTickAt ?? '', b.lastTickAt ?? '']
  return first === second ? a.loop.localeCompare(b.loop) : first < second ? -1 : 1
}
