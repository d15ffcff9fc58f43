import type { Phase } from '../api/work.ts'

/** One step of a task's life; the list only grows. */
export interface HistoryEntry {
  seq: number
  at: string
  from: Phase | null
  to: Phase
  /** `human`, `agent`, or `loop:<name>`. */
  actor: string
  session: string | null
  model: string | null
  note: string
}

/** `<tasks>/<task>/.state`, schema 2. Times are ISO-8601 UTC. */
export interface TaskState {
  schema_version: 2
  task: string
  phase: Phase
  previous_phase: Phase | null
  blocked_reason: string | null
  /** A person or outside agent that took it; loops claim in their own state. */
  claimed_by: string | null
  design_ref: string | null
  scope: string[]
  acceptance_criteria: string[]
  origin: { kind: string; fingerprint: string | null }
  /** The last session that worked each phase, by id. */
  sessions: Partial<Record<Phase, string>>
  models: Partial<Record<Phase, string>>
  history: HistoryEntry[]
  created_at: string
  updated_at: string
}
