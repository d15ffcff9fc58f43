import { join } from 'node:path'
import { errors } from '../errors.ts'
import { abandonTick, haltLoop } from '../machine/loop.ts'
import type { Halt, LoopState } from '../machine/state.ts'
import { commit, completeAhead, load, readLog } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { clearRun, type RunRecord, readRun } from '../store/run.ts'
import { sweepTemps } from '../store/sweep.ts'
import { writeTask } from '../store/tasks.ts'
import { sweepPrivateGits } from '../system/private.ts'
import { endTree, findByEnv } from '../system/process.ts'
import type { Repository } from '../system/repository.ts'
import { killTree } from '../system/tree.ts'
import { compareRepository, type RepositoryRecord, recordRepository } from '../system/tripwire.ts'
import { changedBrakes, recordBrakes } from './brakewire.ts'
import { removeTemporary } from './containment.ts'
import type { Deps } from './deps.ts'
import { makeHalt } from './halt.ts'
import { lostSeconds } from './lost-time.ts'
import { type Parked, park } from './park.ts'
import type { Setting } from './setting.ts'
import { announceHalt } from './steps/settle.ts'
import { watchOptions } from './watch.ts'

const graceMs = 3000
const defaultErrorLimit = 3

/** The state after a dead tick was cleaned up after. */
export interface Recovered {
  /** Null for a loop without state. */
  state: LoopState | null
  /** What was found and done, for people; null when the last tick ended well. */
  note: string | null
  /** The halt that the loop has since then; null when there is none, or when it had one already. */
  halt: Halt | null
}

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

/** Counts a tick that died: the work is kept aside, the money is charged, the iteration is not counted. */
export async function abandon(o: {
  places: LoopPlaces
  deps: Deps
  setting: Pick<Setting, 'repo' | 'config'>
  state: LoopState
  run: RunRecord
  /** How long it ran, as far as that is known. */
  seconds: number
  /** Told to stop, rather than dead: not counted. */
  interrupted?: boolean
  /** What ended it, where that is known. */
  cause?: string
}): Promise<Recovered> {
  const { places, deps, setting, run } = o
  const at = deps.clock.iso()
  const changed = await caughtSince(o)
  const { ref: kept, folder } = await parkWork(o, at)
  const state = abandonTick(o.state, {
    at,
    usd: run.usage.usd ?? 0,
    tokens: run.usage.tokens,
    seconds: o.seconds,
    reported: run.usage.unreported === 0 && isCharged(o),
    counted: o.interrupted !== true,
  })
  const limit = setting.config?.brakes.max_consecutive_errors ?? defaultErrorLimit
  const why =
    changed.length > 0
      ? makeHalt('drift_detected', `tamper:${changed[0]}`, at, changed)
      : state.incomplete_ticks >= limit
        ? makeHalt('human_intervention', 'repeated_crash', at)
        : null
  const halt = state.status === 'running' ? why : null
  const next = halt ? haltLoop(state, halt) : state
  const data = {
    tick: run.tick,
    task: run.task,
    phase: run.phase,
    step: run.step,
    cause: o.cause ?? null,
    seconds: o.seconds,
    kept,
    kept_folder: folder,
    halt: next.halt,
  }
  const type = o.interrupted ? 'interrupted' : 'incomplete'
  const written = commit(places, o.state, next, { type, run: run.run, by: 'recovery', at, data })
  clearRun(places)
  if (halt) await announceHalt({ deps, places }, halt)
  const work =
    (kept ? `; its work is kept as ${kept}` : '') +
    (folder ? `; the repositories inside it are kept in ${folder}` : '')
  return {
    state: written,
    halt,
    note: `previous tick ${run.run} did not finish (${run.phase ? `phase ${run.phase}, ` : ''}step ${run.step})${work}`,
  }
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

/** What a session that was cut short had changed by then of what it must leave alone. */
async function caughtSince(o: Parameters<typeof abandon>[0]): Promise<string[]> {
  const { run, setting, places, deps } = o
  // Automaton itself was writing then, or looked for work, and no session was running.
  if (run.step === 'settle' || run.task === null) return []
  const brakes = recordBrakes({ places, project: deps.project, home: deps.home, task: run.task })
  const changed = changedBrakes(run.brakes, brakes)
  const { repo, config } = setting
  if (!repo || !config || !run.repository) return changed
  const options = watchOptions({ repo, places, config, verified: run.before.head })
  const now = await recordRepository(options)
  // Whatever other loops did since then is their own.
  const busyLoops = listLoops(deps.project).filter((name) => name !== places.name)
  const found = await compareRepository(run.repository, now, { ...options, busyLoops })
  // The worktree's place is another one since then, and was mended on the way here.
  const mended = wasElsewhere(run.repository, repo) ? ['gitfile', 'worktree', 'worktree/gitdir'] : []
  // A recovery that was itself killed has kept the work already.
  const expected = new Set([keptRef(run), ...mended])
  return [...changed, ...found.filter((what) => !expected.has(what))]
}

/** Whether the whole repository was somewhere else then; within it, its own folder for a worktree does not move. */
function wasElsewhere({ files }: RepositoryRecord, repo: Repository): boolean {
  const { worktree } = files
  return worktree !== undefined && worktree !== '' && !worktree.startsWith(join(repo.commonDir, 'worktrees'))
}

/** Whether every session is in `usage`. One that had started when the tick died spent something that nobody knows. */
function isCharged({ run, interrupted }: Parameters<typeof abandon>[0]): boolean {
  return run.session === null && (interrupted === true || run.step === 'settle' || run.step === 'find')
}

/** Where what a dead tick left is kept. */
function keptRef(run: RunRecord): string {
  return `refs/automaton/recovered/${run.run}`
}

async function parkWork(
  { places, setting, run, state }: Parameters<typeof abandon>[0],
  at: string,
): Promise<Parked> {
  const back = run.before.verified_sha ?? state.verified_sha ?? run.before.head
  if (run.step === 'find' || !setting.repo || !back || setting.config?.blast_radius.worktree === false)
    return { ref: null, folder: null }
  const ref = keptRef(run)
  const why = `automaton(${places.name}): kept from a tick that did not finish\n\nAutomaton-Run: ${run.run}\n`
  return park({ repo: setting.repo, worktree: places.worktree, back, ref, at, why })
}
