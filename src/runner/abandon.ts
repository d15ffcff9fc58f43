import { join } from 'node:path'
import { AutomatonError } from '../errors.ts'
import { abandonTick, haltLoop, stuckTick } from '../machine/loop.ts'
import type { Halt, LoopState } from '../machine/state.ts'
import { commit } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { clearRun, type RunRecord } from '../store/run.ts'
import type { Repository } from '../system/repository.ts'
import { compareRepository, type RepositoryRecord, recordRepository } from '../system/tripwire.ts'
import { changedBrakes, recordBrakes } from './brakewire.ts'
import type { Deps } from './deps.ts'
import { makeHalt } from './halt.ts'
import { type Parked, park } from './park.ts'
import { refreshRun } from './run-kept.ts'
import type { Setting } from './setting.ts'
import { announceHalt } from './steps/settle.ts'
import { watchOptions } from './watch.ts'

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

/** A tick that did not come to its end. */
export interface Abandoned {
  places: LoopPlaces
  deps: Deps
  setting: Pick<Setting, 'repo' | 'config'>
  state: LoopState
  run: RunRecord
  /** How long it ran, as far as that is known. */
  seconds: number
  /** Told to stop, rather than dead: not counted. */
  interrupted?: boolean
  /** What its session started could not be ended, and may do anything from now on: a person has to. */
  lives?: boolean
  /** What ended it, where that is known. */
  cause?: string
  /** What is known already to have been tampered with. */
  tampered?: string[]
}

/**
 * Counts a tick that died: the work is kept aside, the money is charged, the iteration is not counted. Where the work
 * cannot be put aside, that counts as well, so that a loop does not try for ever; run.json stays, and the next tick tries
 * again. Throws what stood in the way.
 */
export async function abandon(o: Abandoned): Promise<Recovered> {
  const { places, deps, run } = o
  const at = deps.clock.iso()
  const changed = [...(o.tampered ?? []), ...(await caughtSince(o))]
  let parked: Parked
  try {
    parked = await parkWork(o, at)
  } catch (error) {
    // A person ended it: the next tick sees whether it goes then.
    if (o.interrupted || !(error instanceof AutomatonError)) throw error
    return stuck(o, { at, changed, problem: error })
  }
  const { ref: kept, folder } = parked
  const state = abandonTick(o.state, {
    at,
    usd: run.usage.usd ?? 0,
    tokens: run.usage.tokens,
    seconds: o.seconds,
    reported: run.usage.unreported === 0 && isCharged(o),
    counted: o.interrupted !== true,
  })
  const halt = haltFor(o, state, { at, changed })
  const next = halt ? haltLoop(state, halt) : state
  const data = {
    ...about(run),
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

/** What the dead tick left stays where it is. A loop that does not run is left alone: nothing would come of more counting. */
async function stuck(
  o: Abandoned,
  { at, changed, problem }: { at: string; changed: string[]; problem: AutomatonError },
): Promise<Recovered> {
  const { places, deps, run } = o
  const note = `previous tick ${run.run} cannot be cleaned up after: ${problem.message}; fix: ${problem.fix}`
  if (o.state.status !== 'running') return { state: o.state, note, halt: null }
  const state = stuckTick(o.state, at)
  const halt = haltFor(o, state, { at, changed })
  const next = halt ? haltLoop(state, halt) : state
  const data = { ...about(run), problem: problem.message, halt }
  const written = commit(places, o.state, next, { type: 'stuck', run: run.run, by: 'recovery', at, data })
  // What was changed by the session is in the halt now.
  refreshRun(places)
  if (!halt) throw problem
  await announceHalt({ deps, places }, halt)
  return { state: written, note, halt }
}

function about({ tick, task, phase, step }: RunRecord) {
  return { tick, task, phase, step }
}

/** The halt that a running loop has from now on, or null. */
function haltFor(
  { setting, lives }: Abandoned,
  state: LoopState,
  { at, changed }: { at: string; changed: string[] },
): Halt | null {
  if (state.status !== 'running') return null
  if (changed.length > 0) return makeHalt('drift_detected', `tamper:${changed[0]}`, at, changed)
  if (lives) return makeHalt('human_intervention', 'session_lives', at)
  const limit = setting.config?.brakes.max_consecutive_errors ?? defaultErrorLimit
  return state.incomplete_ticks >= limit ? makeHalt('human_intervention', 'repeated_crash', at) : null
}

/** What a session that was cut short had changed by then of what it must leave alone. */
async function caughtSince(o: Abandoned): Promise<string[]> {
  const { run, setting, places, deps } = o
  // Automaton itself was writing then, or looked for work, and no session was running.
  if (run.step === 'settle' || run.task === null) return []
  const brakes = recordBrakes({ places, project: deps.project, home: deps.home, task: run.task })
  const changed = changedBrakes(run.brakes, brakes)
  const { repo, config } = setting
  if (!repo || !config || !run.repository) return changed
  // What a person did since, such as `sync` or an approval that discards, is in the state.
  const isMoved = o.state.verified_sha !== run.before.verified_sha
  const verified = isMoved ? o.state.verified_sha : run.before.head
  const options = watchOptions({ repo, places, config, verified })
  const now = await recordRepository(options)
  // Whatever other loops did since then is their own.
  const busyLoops = listLoops(deps.project).filter((name) => name !== places.name)
  const found = await compareRepository(run.repository, now, { ...options, busyLoops })
  // The worktree's place is another one since then, and was mended on the way here.
  const mended = wasElsewhere(run.repository, repo) ? ['gitfile', 'worktree', 'worktree/gitdir'] : []
  // A recovery that was itself killed has kept the work already.
  const expected = new Set([keptRef(run), ...mended])
  const isKept = (what: string) => what.startsWith(`refs/automaton/kept/${places.name}/`)
  return [...changed, ...found.filter((what) => !expected.has(what) && !isKept(what))]
}

/** Whether the whole repository was somewhere else then; within it, its own folder for a worktree does not move. */
function wasElsewhere({ files }: RepositoryRecord, repo: Repository): boolean {
  const { worktree } = files
  return worktree !== undefined && worktree !== '' && !worktree.startsWith(join(repo.commonDir, 'worktrees'))
}

/**
 * Whether every session is in `usage`. One that had started when the tick died spent something that nobody knows; where
 * the cause is known, the tick lived to write down each that it started.
 */
function isCharged({ run, cause }: Abandoned): boolean {
  return run.session === null && (cause !== undefined || run.step === 'settle' || run.step === 'find')
}

/** Where what a dead tick left is kept. */
function keptRef(run: RunRecord): string {
  return `refs/automaton/recovered/${run.run}`
}

async function parkWork({ places, setting, run, state }: Abandoned, at: string): Promise<Parked> {
  // A person may have synchronised the loop since.
  const back = state.verified_sha ?? run.before.verified_sha ?? run.before.head
  if (run.step === 'find' || !setting.repo || !back || setting.config?.blast_radius.worktree === false)
    return { ref: null, folder: null }
  const ref = keptRef(run)
  const why = `automaton(${places.name}): kept from a tick that did not finish\n\nAutomaton-Run: ${run.run}\n`
  return park({ repo: setting.repo, worktree: places.worktree, back, ref, at, why })
}
