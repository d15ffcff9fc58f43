import type { VerifyContext } from './context.ts'

/** The grade of one tick's artifact, after coercion. */
export interface Verdict {
  pass: boolean
  /** 0 to 1. */
  score: number
  reasons: string[]
  /** What the next implement session should know; at most 4,000 characters. */
  next_hint: string
}

/** A verdict with what was odd about the text that it came from. */
export interface ReadVerdict {
  verdict: Verdict
  warnings: string[]
}

/** No verdict could be read. The loop halts `verifier_failed`; `raw` is kept for the person. */
export interface UnreadableVerdict {
  unreadable: string
  raw: string
}

/** What a verifier answers: a verdict, or that there was none to be read. */
export type VerifierResult = ReadVerdict | UnreadableVerdict

/** Grades what a session made. Several verifiers run in order: all must pass, the lowest score counts. */
export interface Verifier {
  /** True when it spends no agent session; a failed free verifier ends the list before a session is paid for. */
  free?: boolean
  verify(ctx: VerifyContext): Promise<VerifierResult>
}
