import type { LoopStatus } from './state.ts'

/** What another loop's state says about its task. */
export interface OtherClaim {
  loop: string
  status: LoopStatus
  current_task: string | null
  claimed_at: string | null
}

/** The loop may have the task, or who has it and since when. */
export type ClaimDecision = { ok: true } | { ok: false; owner: string; since: string | null }

/**
 * Whether a loop may take, or keep, a task. A person's claim always wins. Running, paused and halted loops keep what
 * they claimed. There is no lock across loops, so two may both have written a claim: the later one (tie: the larger
 * name) lets go, and every tick asks again.
 */
export function decideClaim(claim: {
  loop: string
  task: string
  others: readonly OtherClaim[]
  /** The person or outside agent that took the task. */
  claimedBy: string | null
  /** When this loop claimed it; null when it has not yet. */
  claimedAt: string | null
}): ClaimDecision {
  const { loop, task, claimedBy, claimedAt } = claim
  if (claimedBy !== null) return { ok: false, owner: claimedBy, since: null }
  const rivals = claim.others
    .filter((other) => other.loop !== loop && other.current_task === task && other.status !== 'complete')
    .sort((a, b) => (isBefore(claimOf(a), claimOf(b)) ? -1 : 1))
  const first = rivals[0]
  if (first === undefined) return { ok: true }
  if (claimedAt !== null && isBefore({ loop, since: time(claimedAt) }, claimOf(first))) return { ok: true }
  return { ok: false, owner: first.loop, since: first.claimed_at }
}

interface Claim {
  loop: string
  since: number
}

function claimOf(other: OtherClaim): Claim {
  return { loop: other.loop, since: time(other.claimed_at) }
}

/** A claim without a readable time counts as the oldest, so that the doubtful one is left alone. */
function time(at: string | null): number {
  const parsed = at === null ? Number.NaN : Date.parse(at)
  return Number.isNaN(parsed) ? Number.NEGATIVE_INFINITY : parsed
}

function isBefore(a: Claim, b: Claim): boolean {
  return a.since === b.since ? a.loop < b.loop : a.since < b.since
}
