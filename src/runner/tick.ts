import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadVerdict } from '../api/verdict.ts'
import { errors } from '../errors.ts'
import { isDue, nextDue } from '../machine/due.ts'
import { pauseLoop } from '../machine/loop.ts'
import { artifactOf } from '../machine/phases.ts'
import type { Halt, LoopState } from '../machine/state.ts'
import { ensureFolder, writeAtomic } from '../store/atomic.ts'
import { commit, latest, load, touch } from '../store/journal.ts'
import { type LoopPlaces, loopPlaces, taskPlaces } from '../store/layout.ts'
import { acquire } from '../store/lock.ts'
import { requireLoop } from '../store/loops.ts'
import { readTask } from '../store/tasks.ts'
import { requireSpace } from '../system/disk.ts'
import { setUndumpable, subreaper } from '../system/native.ts'
import { removeTree } from '../system/remove.ts'
import type { Recovered } from './abandon.ts'
import { sandboxOf } from './containment.ts'
import type { Deps } from './deps.ts'
import { distrustWritable } from './distrust.ts'
import { passGate } from './gate.ts'
import { giveUp } from './give-up.ts'
import { caughtAt, Halting, makeHalt, orHalting } from './halt.ts'
import { journalist } from './journalist.ts'
import { LastLook } from './last-look.ts'
import { Ledger } from './ledger.ts'
import { noteMissed } from './missed.ts'
import { setUpNotifiers } from './notify.ts'
import { recover } from './recover.ts'
import type { TickReport } from './report.ts'
import type { Scene, Search, Work } from './scene.ts'
import { followingStatus } from './schedule.ts'
import { SessionFailed } from './session-failed.ts'
import { allowedPhases, readSetting, type Setting } from './setting.ts'
import { sessionFailed } from './steps/fail.ts'
import { findWork } from './steps/find-work.ts'
import { implement, type Made } from './steps/implement.ts'
import { orchestrate } from './steps/orchestrate.ts'
import { type Outcome, settle } from './steps/settle.ts'
import { prepareSite } from './steps/site.ts'
import { verify } from './steps/verify.ts'
import { mendMoved } from './strayed.ts'
import { changedSince } from './watch.ts'

/** One tick of one loop: find work, implement, verify, orchestrate, settle (contract, section 6). */
export async function tick(loop: string, deps: Deps, options: { scheduled: boolean }): Promise<TickReport> {
  const places = loopPlaces(deps.project, loop)
  requireLoop(deps.project, loop)
  const lock = await acquire(places.lock, { waitMs: 0 })
  if (lock.busy) return { ...common(loop), outcome: 'busy', holder: lock.holder }
  await using _held = lock
  subreaper()
  // A session of the same user could read its secrets, and write into it.
  setUndumpable()
  await using _followed = followingStatus(places, deps)
  const setting = readSetting(places, deps.project, deps.home)
  await distrustWritable(setting, deps)
  await setUpNotifiers(deps, setting.notify)
  // What a copied project's run.json names are the other one's processes, and its worktree is not this loop's.
  const copied = await mendMoved(places, deps.project)
  const before = copied ? untouched(places) : await recover(places, deps, setting)
  const state = copied ? before.state : pauseAsAsked(places, before.state, deps.clock.iso())
  const report = await attempt({ places, deps, setting, state, scheduled: options.scheduled })
  await deps.host.emit('tick:end', {
    loop,
    tick: 'tick' in report ? report.tick : 0,
    outcome: report.outcome,
  })
  return {
    ...(report.outcome === 'refused' ? { ...report, halt: before.halt } : report),
    recovered: before.note,
    warnings: [...setting.warnings, ...report.warnings],
  }
}

/** The state of a loop whose gate will refuse: nothing is finished, abandoned or written. */
function untouched(places: LoopPlaces): Recovered {
  const loaded = load(places)
  return { state: loaded.kind === 'untracked' ? null : latest(loaded), note: null, halt: null }
}

/** A pause that was asked for while a tick ran which then died is meant for the next one, before it starts. */
function pauseAsAsked(places: LoopPlaces, state: LoopState | null, at: string): LoopState | null {
  if (state?.status !== 'running' || !existsSync(places.pauseRequest)) return state
  const entry = { type: 'pause', run: null, by: 'human', at, data: {} }
  const paused = commit(places, state, pauseLoop(state, at), entry)
  removeTree(places.pauseRequest)
  return paused
}

interface Attempt {
  places: LoopPlaces
  deps: Deps
  setting: Setting
  state: LoopState | null
  scheduled: boolean
}

async function attempt({ places, deps, setting, state, scheduled }: Attempt): Promise<TickReport> {
  const { config } = setting
  const startedAt = deps.clock.iso()
  if (scheduled && config && config.schedule.kind !== 'native') {
    return { ...common(places.name), outcome: 'unscheduled', kind: config.schedule.kind }
  }
  if (scheduled && config && state?.status === 'running') {
    const when = {
      lastTickAt: state.last_tick_at,
      intervalSeconds: config.schedule.interval_seconds,
      notBefore: state.not_before,
      now: deps.clock.now(),
    }
    if (!isDue(when)) return { ...common(places.name), outcome: 'not_due', due: nextDue(when).toISOString() }
    noteMissed(places, { ...when, state, progress: deps.progress })
  }
  const run = crypto.randomUUID()
  const passed = await passGate({ places, deps, setting, state, run })
  if (!passed.gate.ok || !config || !passed.state) {
    return { ...common(places.name), outcome: 'refused', gate: passed.gate, halt: null }
  }
  const scene: Search = {
    deps,
    places,
    config,
    models: setting.models,
    prices: setting.prices,
    machine: setting.machine,
    kept: setting.kept,
    allowed: allowedPhases(config, setting.kept),
    repo: setting.repo,
    run,
    tick: passed.state.iteration_count + 1,
    startedAt,
    opening: passed.state,
    ledger: new Ledger(deps.clock),
    looks: new LastLook(),
    warnings: [],
  }
  await deps.host.emit('tick:start', { loop: places.name, tick: scene.tick })
  const found = await findWork(scene, passed.state)
  if (!found.work) {
    touch(places, found.state, { lastTickAt: startedAt })
    return { ...common(places.name), warnings: scene.warnings, outcome: 'no_work', passed: found.passed }
  }
  await deps.host.emit('work:found', { loop: places.name, tick: scene.tick, ...found.work })
  return workOn({ ...scene, sandbox: await sandboxOf(config, deps) }, found.state, found.work)
}

/** Steps 4 to 11 for a claimed task. */
async function workOn(scene: Scene, claimed: LoopState, work: Work): Promise<TickReport> {
  // Before anything is paid for: what cannot be written down would be lost.
  ensureFolder(scene.places.outputs)
  requireSpace(scene.places.outputs)
  requireSpace(tmpdir())
  const { site, state } = await prepareSite(scene, claimed)
  const papers = journalist({ scene, state: claimed, work, site })
  try {
    const report = await sessions({ scene, site, work, state, journalist: papers })
    papers.done()
    return report
  } catch (error) {
    if (error instanceof SessionFailed) {
      const halt = error.halt ?? (await changedSince({ scene, site, work, journalist: papers }))
      const { role, failure } = error
      const report = await sessionFailed(scene, state, work, new SessionFailed(role, failure, halt))
      papers.done()
      return report
    }
    await giveUp({ scene, state, cause: error, journalist: papers })
    throw error
  }
}

async function sessions(o: Parameters<typeof implement>[0]): Promise<TickReport> {
  const { scene, work, state } = o
  const made = await implement(o)
  const { session } = made
  const caught = caughtAt(scene, session)
  if (caught) return settle(halted(o, made, caught))
  if (session.failure) throw new SessionFailed('implement', session.failure, null)
  if (made.outOfScope.length > 0) {
    const detail = `${made.outOfScope.length} out of scope`
    return settle(
      halted(o, made, makeHalt('drift_detected', detail, scene.deps.clock.iso(), made.outOfScope)),
    )
  }
  const graded = await orHalting(() => verify({ ...o, made }))
  if (graded instanceof Halting) return settle(halted(o, made, graded.halt))
  if (graded.halt) return settle(halted(o, made, graded.halt))
  if ('unreadable' in graded.result) {
    const detail = `verdict unreadable: ${graded.result.unreadable}`
    return settle(halted(o, made, makeHalt('verifier_failed', detail, scene.deps.clock.iso())))
  }
  const task = readTask(scene.deps.project, work.task)
  if (!task || !('phase' in task)) throw errors.noTask(work.task, 'it went away during the tick')
  // From here on the tick itself writes to the task's folder: a recovery must not take that for tampering.
  o.journalist.step('settle', { brakes: {}, repository: null })
  keepArtifact(scene, work, made, graded.result)
  const { result, session: verifier, remembered } = graded
  const decided = await orHalting(() => orchestrate({ ...o, task, made, graded: result }))
  const verifySession = verifier?.id ?? null
  const ended = { scene, state, work, made, graded: result, verifySession, remembered }
  if (decided instanceof Halting) {
    const { halt } = decided
    return settle({ ...ended, intent: { action: 'hold', reason: halt.detail }, halt })
  }
  const halt = (decided.session && caughtAt(scene, decided.session)) ?? (await changedSince(o))
  return settle({ ...ended, intent: decided.intent, halt })
}

/** On a pass the artifact becomes the task's own, under its phase's name, before anybody decides where the task goes. */
function keepArtifact({ deps, looks }: Scene, work: Work, made: Made, graded: ReadVerdict): void {
  const name = artifactOf(work.phase)
  if (!graded.verdict.pass || name === null) return
  const text = `${made.artifact}\n`
  writeAtomic(join(taskPlaces(deps.project, work.task).dir, name), text)
  looks.wrote(`tasks/${work.task}/${name}`, text)
}

/** A tick that did work and halts before its end: counted, nothing verified, no operation applied. */
function halted(o: Parameters<typeof implement>[0], made: Made, halt: Halt): Outcome {
  const { scene, state, work } = o
  const intent = { action: 'hold', reason: halt.detail } as const
  return { scene, state, work, made, graded: null, intent, verifySession: null, remembered: null, halt }
}

function common(loop: string) {
  return { loop, recovered: null, warnings: [] as string[] }
}
