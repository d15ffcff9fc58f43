import type { Phase } from '../../../src/api/work.ts'
import { type AuditFacts, type AuditLoop, type AuditTask, audit } from '../../../src/machine/audit.ts'
import { keptPhases } from '../../../src/machine/phases.ts'
import type { HistoryEntry, TaskState } from '../../../src/machine/task.ts'
import { at, makeState, makeTask } from '../builders.ts'

const everyFile = [
  'TASK.md',
  'IMPLEMENTATION.md',
  'CODE_REVIEW.md',
  'BUG_REPORT.md',
  'ADVERSARIAL_BUG_REPORT.md',
]

export function makeAuditFacts(changes: Partial<AuditFacts> = {}): AuditFacts {
  return {
    now: new Date('2026-06-23T10:00:00Z'),
    kept: keptPhases(null),
    tasks: [],
    untracked: [],
    loops: [],
    modelCount: 0,
    sources: [],
    tests: [],
    designs: [],
    ...changes,
  }
}

export function tracked(state: TaskState, changes: Partial<AuditTask> = {}): AuditTask {
  const { task } = state
  const path = `.automaton/tasks/${task}/.state`
  return {
    task,
    path,
    state,
    problem: null,
    files: [...everyFile, 'REFEREE.md'],
    verdicts: {},
    hasDesign: null,
    ...changes,
  }
}

export function loopOf(changes: Partial<AuditLoop> = {}): AuditLoop {
  const path = '.automaton/loops/nightly/.state.loop'
  return { loop: 'nightly', path, state: makeState(), problem: null, unit: null, ...changes }
}

/** A task that went through the given phases, the last of which it is in. */
export function walked(
  path: Phase[],
  changes: Partial<Record<number, Partial<HistoryEntry>>> = {},
): TaskState {
  const history = path.map(
    (to, i): HistoryEntry => ({
      seq: i + 1,
      at,
      from: path[i - 1] ?? null,
      to,
      actor: 'loop:nightly',
      session: `s${i}`,
      model: null,
      note: '',
      ...changes[i + 1],
    }),
  )
  return makeTask(path.at(-1) ?? 'implement', { history })
}

export const rulesOf = (changes: Partial<AuditFacts>) =>
  audit(makeAuditFacts(changes)).map(({ rule }) => rule)
export const rulesOn = (state: TaskState, changes: Partial<AuditTask> = {}) =>
  rulesOf({ tasks: [tracked(state, changes)] })
