import { errors } from '../errors.ts'
import { haltLoop } from '../machine/loop.ts'
import type { LoopState } from '../machine/state.ts'
import { commit, completeAhead, load, readLog } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { clearRun, type RunRecord, readRun } from '../store/run.ts'
import { sweepTemps } from '../store/sweep.ts'
import { writeTask } from '../store/tasks.ts'
import { sweepPrivateGits } from '../system/private.ts'
import { endTree, findByEnv } from '../system/process.ts'
import { killTree } from '../system/tree.ts'
import { abandon, type Recovered } from './abandon.ts'
import { finishSync } from './begun-sync.ts'
import { removeTemporary } from './containment.ts'
import type { Deps } from './deps.ts'
import { makeHalt } from './halt.ts'
import { lostSeconds } from './lost-time.ts'
import type { Setting } from './setting.ts'
import { announceHalt } from './steps/settle.ts'

const graceMs = 3000

/** Loads a loop's state and finishes or abandons what a dead tick left. The caller holds the lock. */
export async function recover(places: LoopPlaces, deps: Deps, setting: Setting): Promise<Recovered> {
  let loaded = load(places, { repair: true })
  if (loaded.kind === 'untracked') return { state: null, note: null, halt: null }
  await sweepTemps(deps.project, places)
  let note: string | null = null
  if (loaded.ahead) {
    const { task } = loaded.ahead
    if (task) writeTask(deps.project, task)
    note = `the last ${loaded.ahead.type} was written but not finished; finished it`
    loaded = { ...loaded, state: completeAhead(places, loaded), ahead: null }
  }
  await finishSync({ places, repo: setting.repo, state: loaded.state })
  const run = readRun(places)
  if (!run) return { state: loaded.state, note, halt: null }
  sweepPrivateGits()
  if ('problem' in run) {
    return unreadable(places, deps, loaded.state, run.problem)
  }
  const lived = await endOrphans(run)
  removeTemporary(run.run)
  if (finished(places, run)) {
    clearRun(places)
    return { state: loaded.state, note, halt: null }
  }
  const seconds = lostSeconds({ places, run, lived, now: deps.clock.now() })
  return abandon({ places, deps, setting, state: loaded.state, run, seconds })
}

/** Whether the log holds the end of that tick. */
export function finished(places: LoopPlaces, run: RunRecord): boolean {
  const ends = new Set(['tick', 'error', 'wait', 'halt', 'interrupted', 'incomplete'])
  return readLog(places, { after: run.state_seq }).some((r) => r.run === run.run && ends.has(r.type))
}

/**
 * Kills what a dead tick's session left running; a process is one of its own only when pid, start and boot match.
 * Returns whether there was any.
 */
async function endOrphans(run: RunRecord): Promise<boolean> {
  const { session, automaton } = run
  const ended = session
    ? await endTree({ ...session, boot: automaton.boot, runId: run.run, graceMs })
    : (await killTree({ leader: null, runId: run.run, graceMs })).all
  const left = findByEnv('AUTOMATON_RUN_ID', run.run)
  if (left.length > 0) throw errors.orphanLives(run.loop, left)
  return ended > 0
}

/** Every write of run.json is whole, so one that cannot be read is somebody's doing. */
async function unreadable(places: LoopPlaces, deps: Deps, state: LoopState, why: string): Promise<Recovered> {
  const at = deps.clock.iso()
  const note = `run.json was not readable (${why}); what the last tick did is not known`
  clearRun(places)
  if (state.status !== 'running') return { state, note, halt: null }
  const halt = makeHalt('drift_detected', 'tamper:run.json', at, ['run.json'])
  const entry = { type: 'halt', run: null, by: 'recovery', at, data: { ...halt } }
  const next = commit(places, state, haltLoop(state, halt), entry)
  await announceHalt({ deps, places }, halt)
  return { state: next, note, halt }
}
