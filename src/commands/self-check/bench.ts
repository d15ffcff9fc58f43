import type { App } from '../../app.ts'
import { type ExecOptions, type ExecResult, exec } from '../../system/exec.ts'

/** Where one check works. */
export interface Bench {
  app: App
  /** Its own folder, which goes with it; absolute and without links. */
  folder: string
  /** A user's home within it. */
  home: string
  /** The environment of the programs that it starts: a session's, at home in `home`. */
  env: Record<string, string>
}

/** Milliseconds that a program of a check may take; emulated processors are slow. */
export const limitMs = 60_000

/** Ends the check as failed, with the reason, unless the condition holds. */
export function expect(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(why)
}

/** Runs a part of the check in a process of this binary's own, as `exec` does it for sessions. */
export async function runPart(
  { app, folder, env }: Bench,
  words: readonly string[],
  options: Partial<ExecOptions> = {},
): Promise<ExecResult> {
  const argv = [...app.self, partVerb, ...words]
  return exec({ argv, cwd: folder, env, timeoutMs: limitMs, signal: app.signal, ...options })
}

/** What a part of a check is called on the command line. */
export const partVerb = 'self-check-part'
