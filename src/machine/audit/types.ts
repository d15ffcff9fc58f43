import type { UnitState } from '../../api/scheduler.ts'
import type { Phase, Severity } from '../../api/work.ts'
import type { LoopState } from '../state.ts'
import type { TaskState } from '../task.ts'

/** One tracked task. Paths are relative to the project. */
export interface AuditTask {
  task: string
  /** Its `.state`. */
  path: string
  state: TaskState | null
  /** Why `state` is null. */
  problem: string | null
  /** The names of the files in its folder that are not empty. */
  files: readonly string[]
  /** The word of each artifact's `Verdict:` line, by the phase that the artifact is from; null: no clear line. */
  verdicts: Partial<Record<Phase, string | null>>
  /** Whether what `design_ref` names is there; null when the task has no reference. */
  hasDesign: boolean | null
}

/** One loop. */
export interface AuditLoop {
  loop: string
  /** Its `.state.loop`, relative to the project. */
  path: string
  state: LoopState | null
  /** Why `state` is null; null for a loop that was never started, too. */
  problem: string | null
  /** What the system's scheduler holds; null when nothing should be there, or when it could not be asked. */
  unit: UnitState | null
}

/** Everything that the rules look at, gathered beforehand. */
export interface AuditFacts {
  now: Date
  kept: readonly Phase[]
  tasks: readonly AuditTask[]
  /** Task folders without `.state`, relative to the project. */
  untracked: readonly { task: string; path: string }[]
  loops: readonly AuditLoop[]
  /** How many models `models.json` names. */
  modelCount: number
  /** Source files that a test should name, relative to the project. */
  sources: readonly string[]
  /** Test files and their text. */
  tests: readonly { path: string; text: string }[]
  /** Design documents, and those of the files they mention that are not there. */
  designs: readonly { path: string; missing: readonly string[] }[]
}

/** What a rule found. */
export interface Finding {
  /** What it is about, in one word that stays the same while the cause does. */
  place: string
  task: string | null
  path: string | null
  message: string
}

/** One rule of the audit. */
export interface AuditRule {
  name: string
  severity: Severity
  /** An agent in a worktree could put it right. */
  isWorkable: boolean
  find(facts: AuditFacts): Finding[]
}
