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
}

/** Why a session failed, where the harness says so. */
export type SessionErrorKind = 'login' | 'credit' | 'rate_limit' | 'overloaded' | 'config' | 'other'

/** What a finished session's output said. */
export interface SessionReport {
  /** The agent's last words; null when there were none. */
  finalMessage: string | null
  sessionId: string | null
  /** Tokens in and out, and money in US dollars; null where the harness does not say. */
  usage: { usd: number | null; tokens: number | null }
  /** True when the output held the event that this harness ends a good run with. */
  finished: boolean
  error: { kind: SessionErrorKind; message: string; retryAt?: string } | null
}

/** Reads a session's standard output as it comes, line by line. */
export interface OutputReader {
  /** One line without its end; lines over 1 MiB arrive cut. */
  line(text: string): void
  /** Called once, after the last line. `stdout` is the whole text, with its middle cut out when it was over 1 MiB. */
  end(end: { exitCode: number | null; stdout: string; stderr: string }): SessionReport
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
  command(request: SessionRequest): SessionCommand
  reader(): OutputReader
}
