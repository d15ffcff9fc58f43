import { existsSync } from 'node:fs'
import { AutomatonError } from '../errors.ts'
import type { LogRecord } from '../store/chain.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { diffText } from '../system/drift.ts'
import { resolveCommit } from '../system/git.ts'
import { findRepository, type Repository } from '../system/repository.ts'
import { snapshot } from '../system/snapshot.ts'

/** What a tick changed. */
export interface TickDiff {
  /** Null when that is no longer known. */
  diff: string | null
  /** Where changes are that were not committed: a ref, or the worktree's folder. Null for what was committed. */
  aside: string | null
}

const diffLimit = 256 << 10
const unknown: TickDiff = { diff: null, aside: null }

/** The changes of a tick: those that it committed, else those that were put aside, else those that still lie in the worktree. */
export async function tickDiff(o: {
  root: string
  places: LoopPlaces
  /** The whole log. */
  all: readonly LogRecord[]
  tick: number
}): Promise<TickDiff> {
  const at = o.all.findLastIndex(({ data, type }) => data.tick === o.tick && type !== 'stuck')
  const record = o.all[at]
  const repo = findRepository(o.root)
  if (!record || !repo) return unknown
  const { result } = record.data
  // A tick that halted over its changes committed none of them, nor did one that came to no end.
  const isCommitted = record.type === 'tick' && (typeof result === 'string' || !record.state.halt)
  try {
    return isCommitted
      ? await committed(repo, record, o.all[at - 1])
      : await uncommitted({ ...o, repo, record, later: o.all.slice(at + 1) })
  } catch (error) {
    if (!(error instanceof AutomatonError)) throw error
    // The commits may have been collected since.
    return unknown
  }
}

/** From the commit that the tick started from to the one that it left. */
async function committed(
  repo: Repository,
  record: LogRecord,
  before: LogRecord | undefined,
): Promise<TickDiff> {
  const to = record.data.result ?? record.state.verified_sha
  const from = before?.state.verified_sha ?? record.state.base_sha
  if (typeof to !== 'string' || !from) return unknown
  const diff = from === to ? '' : await diffText({ repo, from, to, maxBytes: diffLimit })
  return { diff, aside: null }
}

async function uncommitted(o: {
  repo: Repository
  places: LoopPlaces
  record: LogRecord
  later: LogRecord[]
}): Promise<TickDiff> {
  const { repo, places, record, later } = o
  const from = record.state.verified_sha ?? record.state.base_sha
  const next = later.findIndex(({ data }) => typeof data.tick === 'number')
  const until = next < 0 ? later : later.slice(0, next)
  const kept = [record, ...until].map(({ data }) => data.kept).find((ref) => typeof ref === 'string')
  if (kept !== undefined) {
    const to = await resolveCommit(repo, kept)
    if (!from || !to) return { diff: null, aside: to && kept }
    return { diff: await diffText({ repo, from, to, maxBytes: diffLimit }), aside: kept }
  }
  // A later tick works in the same worktree, and after `sync` or a discard nothing of this one is there.
  const isThere = next < 0 && !until.some(({ type }) => type === 'sync')
  if (!isThere || !from || !existsSync(places.worktree)) return unknown
  await using now = await snapshot({ repo, worktree: places.worktree, persist: false })
  const { place, tree: to } = now
  return { diff: await diffText({ repo, from, to, place, maxBytes: diffLimit }), aside: places.worktree }
}
