import { rmSync } from 'node:fs'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { canMove, pauseLoop as paused } from '../machine/loop.ts'
import type { LoopStatus } from '../machine/state.ts'
import { keepingRun } from '../runner/run-kept.ts'
import { writeAtomic } from '../store/atomic.ts'
import { commit, peek } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { acquire } from '../store/lock.ts'
import { readRun } from '../store/run.ts'
import { existingLoop, followLoop, lockWaitMs, stateOf } from './held.ts'

/** What `pause-loop` did. */
export interface PauseReport {
  loop: string
  status: LoopStatus
  /** True when a tick is running, which pauses the loop as it settles. */
  requested: boolean
  /** Who runs that tick, for people. */
  holder: string | null
}

/** Pauses a running loop, or leaves the request where a running tick finds it. Throws `wrong_status`. */
export async function pauseLoop(app: App, { loop }: { loop: string }): Promise<PauseReport> {
  const places = existingLoop(app.project(), loop)
  const first = await pauseNow(app, places, isTicking(places) ? 0 : lockWaitMs)
  if (first === 'paused') return { loop, status: 'paused', requested: false, holder: null }
  refuseUnlessRunning(loop, peek(places).state?.status ?? 'running')
  writeAtomic(places.pauseRequest, `${app.clock.iso()}\n`)
  // The tick may have settled before the request was there; then nobody would read it.
  const second = await pauseNow(app, places, 0)
  if (second === 'paused') return { loop, status: 'paused', requested: false, holder: null }
  return { loop, status: 'running', requested: true, holder: second.holder }
}

async function pauseNow(
  app: App,
  places: LoopPlaces,
  waitMs: number,
): Promise<'paused' | { holder: string }> {
  const lock = await acquire(places.lock, { waitMs })
  if (lock.busy) return { holder: lock.holder }
  await using _held = lock
  return await keepingRun(places, () => pauseHeld(app, places, waitMs))
}

async function pauseHeld(app: App, places: LoopPlaces, waitMs: number): Promise<'paused'> {
  const state = stateOf(app.project(), places)
  rmSync(places.pauseRequest, { force: true })
  // A tick that settled in between has already done what was asked.
  if (state.status === 'paused' && waitMs === 0) return 'paused'
  refuseUnlessRunning(places.name, state.status)
  const at = app.clock.iso()
  commit(places, state, paused(state, at), { type: 'pause', run: null, by: 'human', at, data: {} })
  await followLoop(app, places)
  return 'paused'
}

function isTicking(places: LoopPlaces): boolean {
  return readRun(places) !== null
}

function refuseUnlessRunning(loop: string, status: LoopStatus): void {
  if (canMove(status, 'pause')) return
  const fixes: Record<LoopStatus, string> = {
    running: '',
    paused: `automaton resume-loop ${loop}, if it should go on`,
    halted: `automaton status ${loop}; a halted loop does not tick either`,
    complete: `automaton status ${loop}; a complete loop never ticks again`,
  }
  throw errors.wrongStatus(loop, 'pause', status, fixes[status])
}
