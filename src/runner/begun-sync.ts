import { existsSync } from 'node:fs'
import { AutomatonError } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import { readBounded } from '../store/atomic.ts'
import { readLog } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { clearRefLock } from '../system/checkout.ts'
import { removeTree } from '../system/remove.ts'
import type { Repository } from '../system/repository.ts'
import { stamp } from './discard.ts'
import { type Parked, type Parking, park } from './park.ts'

/** Where a synchronisation keeps what it takes away, and why; the ref's name follows from the time. */
export function syncParking(o: { places: LoopPlaces; repo: Repository; base: string; at: string }): Parking {
  const { places, repo, base, at } = o
  const ref = keptRef(places, at)
  const why = `automaton(${places.name}): kept by sync\n`
  return { repo, worktree: places.worktree, back: base, ref, at, why }
}

/**
 * Puts the worktree where the log says that a `sync` put it, if that died before it could. What has changed since is
 * kept as well. Null when there was nothing to finish. The caller holds the lock and has the state that follows from the log.
 */
export async function finishSync(o: {
  places: LoopPlaces
  repo: Repository | null
  state: LoopState | null
}): Promise<Parked | null> {
  const { places, repo, state } = o
  if (!existsSync(places.syncBegun) || !repo) return null
  const at = readBounded(places.syncBegun, 100)?.trim()
  const record = readLog(places).findLast(({ type }) => type === 'sync')
  const base = record?.data.base
  const isBegun = record?.at === at && typeof base === 'string' && state?.verified_sha === base
  const parked = isBegun && at ? await park(syncParking({ places, repo, base, at })) : null
  // Else it died before anything was written, and nothing has happened yet.
  if (!isBegun && /^[-0-9T:.]+Z$/.test(at ?? '')) sweep(repo, keptRef(places, at ?? ''))
  removeTree(places.syncBegun)
  return parked
}

/** Where a synchronisation of that time keeps what it takes away. */
function keptRef(places: LoopPlaces, at: string): string {
  return `refs/automaton/kept/${places.name}/${stamp(at)}`
}

/** No later try has that name, so that a killed git's lock on it would stay for good; it is in nobody's way. */
function sweep(repo: Repository, ref: string): void {
  try {
    clearRefLock(repo, ref)
  } catch (error) {
    if (!(error instanceof AutomatonError)) throw error
  }
}
