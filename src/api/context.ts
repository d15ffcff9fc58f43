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
  /**
   * Runs a program of the person's in the project, without a shell. It sees the usual variables, those of `harness.env`
   * and those named in `env`. A loop without a worktree runs it in the sandbox: its sessions may have changed the program.
   */
  run(argv: readonly string[], options?: SourceRunOptions): Promise<RunResult>
  /**
   * Runs a program on the base branch: in a folder of its own, made without hooks and filters at the first call and taken
   * away when `find` has ended; there is no `.git` in it. In the sandbox, if the loop has one.
   */
  runOnBase(argv: readonly string[], options?: SourceRunOptions): Promise<RunResult>
  /** The files in that folder whose paths match the glob, by name: at most 500 of at most 8 MiB each. No link is followed. */
  baseFiles(glob: string): Promise<{ path: string; text: string }[]>
  /** Whether the loop's branch has work that the base branch lacks. */
  unmerged(): Promise<boolean>
}

/** Details of a program that a source runs. */
export interface SourceRunOptions {
  /** Default 600. */
  timeoutSeconds?: number
  /** Names of variables that the program sees besides the usual ones. */
  env?: readonly string[]
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
  run(argv: readonly string[], options?: VerifyRunOptions): Promise<RunResult>
  /** False where there is no worktree: then nothing can be put back to the base commit for a run. */
  hasBase: boolean
  /** What {@link VerifyContext.remember} kept, for as long as the loop's branch starts from the same commit. */
  memory: Readonly<Record<string, string | number | boolean>>
  /**
   * Keeps values by name, for this loop, verifier and set of options. They are written down when the tick has settled, so
   * that a tick that dies leaves nothing; with `ifPassed` only when every verifier passed.
   */
  remember(
    values: Readonly<Record<string, string | number | boolean>>,
    options?: { ifPassed?: boolean },
  ): Promise<void>
}

/** Details of a program that a verifier runs. */
export interface VerifyRunOptions {
  /** Default 600. */
  timeoutSeconds?: number
  /**
   * Globs of files that are as in the base commit while the program runs, added and removed ones included; besides the
   * protected files, which always are. Rejects where {@link VerifyContext.hasBase} is false.
   */
  fromBase?: readonly string[]
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
  /** Standard output and then standard error, each with the middle cut out when it has over 1 MiB. */
  output: string
  /** Standard output alone. */
  stdout: string
  seconds: number
  timedOut: boolean
}
