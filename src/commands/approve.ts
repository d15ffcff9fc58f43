import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { approveLoop as approved, haltLoop } from '../machine/loop.ts'
import type { Halt, LoopState, LoopStatus } from '../machine/state.ts'
import { finishSync } from '../runner/begun-sync.ts'
import { discard } from '../runner/discard.ts'
import { distrustWritable } from '../runner/distrust.ts'
import { branchOf, outOfScopeNow } from '../runner/facts.ts'
import { makeHalt } from '../runner/halt.ts'
import { acceptedBranch, type BranchShas, lostRefusal } from '../runner/moved-branch.ts'
import { readSetting } from '../runner/setting.ts'
import { requireOwnWorktree } from '../runner/strayed.ts'
import { commit, peek } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { resolveCommit } from '../system/git.ts'
import { isRealFolder } from '../system/small-file.ts'
import { existingLoop, followLoop, withLoop } from './held.ts'

/** How a person approves a loop. */
export interface ApproveOptions {
  loop: string
  /** The halt that the person looked at; null: it is asked for at the terminal. */
  halt: string | null
  note: string | null
  /** Put the worktree back to its last verified commit first. */
  discard: boolean
}

/** What came of an approval. */
export interface ApproveReport {
  loop: string
  approved: boolean
  /** The halt that was cleared, or the new one that the loop has instead. */
  halt: Halt
  status: LoopStatus
  resumed_count: number
  /** The ref that keeps what `--discard` threw away. */
  kept: string | null
  /** The folder with the repositories that lay in the worktree; null when there were none. */
  kept_folder: string | null
}

/**
 * Clears one halt (contract, section 8). After drift the worktree is looked at again: with files still out of scope
 * the loop halts anew. Throws `approval_refused`, `wrong_status` and `busy`.
 */
export async function approveLoop(app: App, options: ApproveOptions): Promise<ApproveReport> {
  const places = existingLoop(app.project(), options.loop)
  const halt = options.halt ?? (await askFor(app, places))
  const host = await app.host()
  const report = await withLoop(app, places, async (state): Promise<ApproveReport> => {
    const current = currentHalt(places, state)
    if (current.id !== halt) {
      const why = `${JSON.stringify(halt)} is not the halt that the loop has now`
      throw errors.approvalRefused(places.name, why, `automaton status ${places.name}`)
    }
    const checked = await checkDrift({ app, places, state, halt: current, throwAway: options.discard })
    const base = { loop: places.name, kept: checked.kept, kept_folder: checked.folder }
    if (checked.again) {
      const next = haltAgain(app, places, state, checked.again)
      return {
        ...base,
        approved: false,
        halt: checked.again,
        status: 'halted',
        resumed_count: next.resumed_count,
      }
    }
    const at = app.clock.iso()
    const data = {
      halt: current.id,
      reason: current.reason,
      note: options.note,
      kept: checked.kept,
      kept_folder: checked.folder,
      // The commits that were there for the person to look at; see `isRolledBack`.
      tip: checked.tip,
      ...(checked.branch && { was: state.verified_sha }),
      ...who(app),
    }
    const entry = { type: 'approve', run: null, by: 'human', at, data }
    const next = commit(places, state, { ...approved(state, at), ...checked.branch }, entry)
    await followLoop(app, places)
    return { ...base, approved: true, halt: current, status: next.status, resumed_count: next.resumed_count }
  })
  if (report.approved) await host.emit('approve', { loop: places.name, haltId: halt, by: who(app).user })
  return report
}

function currentHalt(places: LoopPlaces, state: LoopState): Halt {
  if (state.status === 'halted' && state.halt) return state.halt
  const fixes: Record<LoopStatus, string> = {
    running: `automaton tick ${places.name}`,
    paused: `automaton resume-loop ${places.name}`,
    halted: `automaton repair ${places.name}`,
    complete: `automaton status ${places.name}`,
  }
  throw errors.wrongStatus(places.name, 'approve', state.status, fixes[state.status])
}

/** Shows the halt at the terminal and has its name typed; a pipe cannot answer. */
async function askFor(app: App, places: LoopPlaces): Promise<string> {
  const { state, problem } = peek(places)
  if (problem) throw problem
  if (!state) throw errors.stateDamaged(places.state, 'it is missing', places.name)
  const halt = currentHalt(places, state)
  if (!app.terminal.interactive) {
    const why = 'without a terminal it has to name the halt that you looked at'
    throw errors.approvalRefused(
      places.name,
      why,
      `automaton approve --loop ${places.name} --halt ${halt.id}`,
    )
  }
  const { approvalQuestion } = await import('./approval-question.ts')
  const answer = await app.terminal.ask(approvalQuestion(places.name, state, halt))
  if (answer === halt.id) return halt.id
  throw errors.approvalRefused(
    places.name,
    'that was not the word',
    `automaton approve --loop ${places.name}`,
  )
}

interface Checked {
  kept: string | null
  folder: string | null
  tip: string | null
  /** What the state says of the branch from now on, where the person has made it another one. */
  branch: BranchShas | null
  again: Halt | null
}

/** After drift: what is still wrong, as a new halt. `--discard` puts it right first. */
async function checkDrift(o: {
  app: App
  places: LoopPlaces
  state: LoopState
  halt: Halt
  throwAway: boolean
}): Promise<Checked> {
  const { app, places, state, halt } = o
  await requireOwnWorktree(places, app.project())
  const { config, repo, problem } = readSetting(places, app.project(), app.home)
  await distrustWritable({ config, repo }, await app.deps())
  const hasWorktree = repo !== null && state.base_sha !== null && isRealFolder(places.worktree)
  const at = app.clock.iso()
  if (o.throwAway && !hasWorktree) {
    const fix = `automaton approve --loop ${places.name} --halt ${halt.id}`
    throw errors.approvalRefused(places.name, 'there is no worktree to discard', fix)
  }
  await finishSync({ places, repo, state })
  const nothing = { ref: null, folder: null }
  const lost = o.throwAway && repo ? await lostRefusal({ repo, loop: places.name, state }) : null
  if (lost) throw errors.approvalRefused(places.name, lost.why, lost.fix)
  const parked = o.throwAway && repo ? await discard({ places, repo, state, halt, at }) : nothing
  const tip = repo && (await resolveCommit(repo, `refs/heads/${branchOf(places.name)}`))
  const branch = repo && config && tip ? await acceptedBranch({ config, repo, state, tip }) : null
  const base = { kept: parked.ref, folder: parked.folder, tip, branch }
  if (halt.reason !== 'drift_detected' || !repo || !hasWorktree || !state.base_sha)
    return { ...base, again: null }
  if (!config)
    throw problem ?? errors.badConfig(places.config, 'the whole file', 'missing', 'one JSON object')
  const found = await outOfScopeNow({ places, config, repo, base: branch?.base_sha ?? state.base_sha })
  if (found.files.length === 0 && found.tamper === null) return { ...base, again: null }
  const detail = found.tamper ?? `${found.files.length} out of scope`
  return { ...base, again: makeHalt('drift_detected', detail, at, found.files) }
}

function haltAgain(app: App, places: LoopPlaces, state: LoopState, halt: Halt): LoopState {
  const entry = {
    type: 'halt',
    run: null,
    by: 'approve',
    at: app.clock.iso(),
    data: { ...halt, ...who(app) },
  }
  return commit(places, state, haltLoop(state, halt), entry)
}

function who(app: App): { user: string; terminal: string | null } {
  const { user, tty } = app.terminal.describe()
  return { user, terminal: tty }
}
