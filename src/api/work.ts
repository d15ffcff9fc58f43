import type { SourceContext } from './context.ts'

/** The phases of a task in their fixed order, then the two that end work. A project may keep a subset. */
export const phases = [
  'design',
  'decompose',
  'implement',
  'code_review',
  'bug_hunt',
  'adversarial_review',
  'referee',
  'complete',
  'human_intervention',
] as const

/** One of {@link phases}. */
export type Phase = (typeof phases)[number]

/** Severities of an audit violation, most severe first. */
export const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const

/** One of {@link severities}. */
export type Severity = (typeof severities)[number]

/** One finding of `automaton audit`. */
export interface Violation {
  /** Rule and place in one word, for people; not stable across versions. */
  id: string
  severity: Severity
  /** The rule's name, kebab-case. */
  rule: string
  /** The task it concerns, or null. */
  task: string | null
  /** The file it concerns, relative to the project, or null. */
  path: string | null
  message: string
  /** Stable across runs while the cause stays the same; one fingerprint makes at most one open task. */
  fingerprint: string
}

/** What a source may know of a task. */
export interface TaskView {
  task: string
  phase: Phase
  claimed_by: string | null
  /** Why it waits for a person; null when it does not. */
  blocked_reason: string | null
  /** The item that it came from; null for a task without one. */
  design_ref: string | null
  origin: { kind: string; fingerprint: string | null }
  /** ISO-8601 UTC. */
  created_at: string
}

/** One thing that could be worked on: an existing task, or the brief of a task to make. Or a task that nobody needs any more. */
export type WorkItem =
  | { task: string }
  | {
      /** An open task that a source made, and that nobody works on. */
      task: string
      /** Why it is done with: it goes to `human_intervention` with this reason. */
      close: string
    }
  | {
      /** One line; the task's name is made from it. */
      title: string
      /** Markdown, handed to the implement session as the task's brief. */
      brief: string
      /** One open task per fingerprint: an item whose task is still open is that task. */
      fingerprint: string
      /** The item it came from, such as `design/loops/BACKLOG.md#add-x`. */
      design_ref?: string
      /** Globs relative to the project. */
      scope?: string[]
      acceptance_criteria?: string[]
    }

/** Finds work. Candidates in order of preference; automaton takes the first that it can claim. */
export interface Source {
  find(ctx: SourceContext): Promise<WorkItem[]> | WorkItem[]
}
