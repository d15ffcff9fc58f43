import { AutomatonError, errors } from '../errors.ts'
import { freshState, type LoopState } from '../machine/state.ts'
import { isPassing } from '../system/passing.ts'
import { plainReason, removeStaleTemps } from './atomic.ts'
import { cutAfter, type Link, type LogRecord, readLink, setAside, walkChain } from './chain.ts'
import { commit, peek, salvageState } from './journal.ts'
import type { LoopPlaces } from './layout.ts'

/** Who repairs, when, and the id of the halt that results. */
export interface RebuildOptions {
  at: string
  by: string
  haltId: string
}

/**
 * Makes state and log agree again, from the last good record of the log; where there is none, from the state
 * file; where that is gone too, from nothing. The loop is halted afterwards, whatever it was, so that a person
 * approves before it runs. What was there is kept: the state as `.state.loop.damaged-<time>`, the end of the log
 * in `.state.log.torn`. The caller holds the lock. Throws `state_too_new` for the state of a newer automaton.
 */
export function rebuild(places: LoopPlaces, { at, by, haltId }: RebuildOptions): LoopState {
  const { problem } = peek(places)
  if (problem instanceof AutomatonError && problem.code === 'state_too_new') throw problem
  const found = salvageState(places)
  const good = lastGood(places, at)
  const from = good ? 'log' : found ? 'state' : 'nothing'
  const base = good ? withCounters(good, found) : (found ?? freshState(places.name, at))
  setAside(places.state, at)
  removeStaleTemps(places.dir)
  const current = good ? { ...base, seq: good.seq, log_head: good.hash } : { ...base, seq: 0, log_head: '' }
  const detail = from === 'nothing' ? 'repaired:no-history' : 'repaired'
  const halt = { id: haltId, reason: 'human_intervention', detail, at, files: [] } as const
  const schedule = { ...current.schedule, enabled: false }
  const next: LoopState = { ...current, status: 'halted', halt: { ...halt, files: [] }, schedule }
  const data = { from, problem: problem?.message ?? null }
  return commit(places, current, next, { type: 'repaired', run: null, by, data, at })
}

type Good = LogRecord['state'] & { hash: string }

/** The last record that is good, and the log cut after it. */
function lastGood(places: LoopPlaces, at: string): Good | null {
  let links: Link[] = []
  try {
    links = walkChain(places.log)?.links ?? []
  } catch (error) {
    // A fault that passes is no damage, and a log that is set aside for it would take the counts along.
    if (isPassing(error)) throw errors.readFailed(places.log, plainReason(error), error)
    setAside(places.log, at)
  }
  for (const link of links.toReversed()) {
    const record = readTwice(places.log, link)
    if (typeof record === 'string' || record.state.name !== places.name) continue
    cutAfter(places.log, link)
    return { ...record.state, hash: link.hash }
  }
  cutAfter(places.log, null)
  return null
}

/** A record that a fault of the machine hid once is not to be cut off. */
function readTwice(file: string, link: Link): LogRecord | string {
  const first = readLink(file, link)
  return typeof first === 'string' ? readLink(file, link) : first
}

/** A log that lost its end does not take back what the state counted: tick numbers and spend never go down. */
function withCounters({ hash, ...good }: Good, found: LoopState | null): LoopState {
  const state: LoopState = { ...good, log_head: hash }
  if (!found || found.seq <= good.seq) return state
  return {
    ...state,
    iteration_count: Math.max(state.iteration_count, found.iteration_count),
    resumed_count: Math.max(state.resumed_count, found.resumed_count),
    wall_seconds: Math.max(state.wall_seconds, found.wall_seconds),
    cost: {
      usd: Math.max(state.cost.usd, found.cost.usd),
      tokens: Math.max(state.cost.tokens, found.cost.tokens),
      reported: state.cost.reported && found.cost.reported,
    },
  }
}
