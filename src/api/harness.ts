/** The three sessions of a tick. */
export const roles = ['implement', 'verify', 'orchestrate'] as const

/** One of {@link roles}. */
export type Role = (typeof roles)[number]

/** One session that a harness is asked to run. */
export interface SessionRequest {
  role: Role
  /** The model id as the user wrote it, opaque; null lets the harness decide. */
  model: string | null
  /** The rendered prompt. */
  prompt: string
  /** The same, in a file that the session may read. */
  promptFile: string
  /** The folder that the session works in. */
  cwd: string
  /** Where the session should leave its artifact. */
  output: string
  /** Values of the tokens that `harness.command` may name. */
  tokens: Readonly<Record<string, string>>
  /**
   * True when automaton's own sandbox is around the session. Only then may an adapter switch off a sandbox that its CLI
   * brings along, which often does not start inside of another one.
   */
  contained: boolean
}

/** How to start the session. */
export interface SessionCommand {
  /** Program and arguments; no shell ever sees them. A bare name is looked up on PATH. */
  argv: string[]
  /** What goes to standard input, which is then closed. Absent: /dev/null. */
  stdin?: string
  /** Variables to set for this session. */
  env?: Record<string, string>
  /** Things a person should know about how this session was started. */
  notes?: string[]
  /**
   * The name of a file in the folder of {@link SessionRequest.output} that this CLI leaves its own account in. The reader
   * gets its text; nothing else is done with it.
   */
  report?: string
}

/** How a session ended, for its reader. */
export interface SessionEnd {
  /** null when a signal ended it. */
  exitCode: number | null
  /** The whole text, with its middle cut out when it was over 1 MiB; `stderr` likewise. */
  stdout: string
  stderr: string
  /** When, as ISO-8601 in UTC: what "try again in an hour" counts from. */
  at: string
  /** The text of {@link SessionCommand.report}; null when there is none. */
  report: string | null
}

/** Why a session failed, where the harness says so. */
export type SessionErrorKind = 'login' | 'credit' | 'rate_limit' | 'overloaded' | 'config' | 'other'

/**
 * What one session cost, added up over all of its steps. Where `usd` is null, automaton prices the tokens by the table
 * in `.automaton/config.json`; for that the parts say more than the sum.
 */
export interface SessionUsage {
  /** US dollars; null where the harness does not say. */
  usd: number | null
  /** All tokens, in and out; null where the harness does not say. */
  tokens: number | null
  /** Tokens that went in, without those of `cached`. */
  input?: number
  /** Tokens that came out, reasoning included. */
  output?: number
  /** Tokens that went in from a cache. */
  cached?: number
}

/** What a finished session's output said. */
export interface SessionReport {
  /** The agent's last words; null when there were none. */
  finalMessage: string | null
  sessionId: string | null
  usage: SessionUsage
  /** True when the output held the event that this harness ends a good run with. */
  finished: boolean
  /** `retryAt` (ISO-8601) says when a limit ends: the loop then waits instead of counting an error. */
  error: { kind: SessionErrorKind; message: string; retryAt?: string } | null
}

/** Reads a session's standard output as it comes, line by line. */
export interface OutputReader {
  /** One line without its end; lines over 1 MiB arrive cut. */
  line(text: string): void
  /** Called once, after the last line. */
  end(end: SessionEnd): SessionReport
}

/** Drives one agent CLI. */
export interface Harness {
  /** The programs that must be on PATH. */
  programs: string[]
  /** True when sessions can only run on a remote service, so that this machine's memory does not matter. */
  remote?: boolean
  /** Names of variables that this CLI needs from the user's environment (its API keys). */
  env?: string[]
  /** Folders of its own that the CLI must write, `~` for the user's home. */
  writes?: string[]
  /**
   * Arguments with which the CLI exits with 0 when it is logged in and with another code when it is not, asking nobody.
   * For `doctor --as-scheduler`; absent: nobody can tell before a session.
   */
  login?: string[]
  command(request: SessionRequest): SessionCommand
  reader(): OutputReader
}
