import type { Role, SessionReport } from './harness.ts'
import type { VerifierResult } from './verdict.ts'
import type { Phase, TaskView, Violation } from './work.ts'

/** What every call into a plugin gets. */
export interface PluginContext {
  loop: string
  /** Absolute path of the project (the primary checkout). */
  project: string
  /** Writes one line to the tick's progress on stderr. */
  log(message: string): void
  /** Aborted when the call's time is up or the tick is interrupted. */
  signal: AbortSignal
}

/** What a source gets. */
export interface SourceContext extends PluginContext {
  /** `work_source.task` of loop.json. */
  task: string | null
  /** `work_source.area` of loop.json. */
  area: string | null
  /** The phases that this loop may work. */
  phases: readonly Phase[]
  /** Every tracked task of the project, oldest first. */
  tasks: readonly TaskView[]
  /** Runs the audit of the project. */
  audit(): Promise<Violation[]>
  /**
   * The text of a file of the project, by its path relative to {@link PluginContext.project} with `/` between folders;
   * null when there is none. Rejects for a path that leaves the project and for a file that is too long to read.
   */
  readProjectFile(path: string): Promise<string | null>
}

/** What a verifier gets. */
export interface VerifyContext extends PluginContext {
  task: string
  phase: Phase
  /** Absolute path of the folder that the sessions work in. */
  worktree: string
  acceptanceCriteria: readonly string[]
  /** The implement session's artifact. */
  artifact: string
  /** The tick's diff as text. */
  diff: string
  /** Runs one agent session in the given role's prompt, and returns what it left. */
  session(role: Role): Promise<SessionResult>
  /** Reads a verdict out of free text, by the rules of the contract (section 6.3). */
  readVerdict(text: string): VerifierResult
  /** Runs a program in the worktree, without a shell, under the session's limits. */
  run(argv: readonly string[], options?: { timeoutSeconds?: number }): Promise<RunResult>
}

/** A session that ended. */
export interface SessionResult extends SessionReport {
  /** What the session wrote to `AUTOMATON_OUTPUT`, or null. */
  output: string | null
}

/** A program that ended. */
export interface RunResult {
  /** null when it was killed. */
  exitCode: number | null
  /** Standard output and error as they came, with the middle cut out when long. */
  output: string
  timedOut: boolean
}
