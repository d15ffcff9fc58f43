import type { App } from '../app.ts'
import { exec } from '../system/exec.ts'

/**
 * Runs a command of an automaton on this disk to its end, as the person would; null when it worked, else what it said. In a
 * process of its own it is at home in another project, with that project's plugins.
 */
export async function callProgram(
  app: App,
  o: { program: string; home: string; args: readonly string[] },
): Promise<string | null> {
  const env = Object.entries(app.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const result = await exec({
    argv: [o.program, ...o.args],
    cwd: app.cwd,
    env: { ...Object.fromEntries(env), AUTOMATON_HOME: o.home },
    timeoutMs: 60_000,
    signal: app.signal,
  })
  app.signal.throwIfAborted()
  if (result.exitCode === 0) return null
  const lines = result.stderr.trim().split('\n').slice(-2)
  const said = lines.map((line) => line.trim().replace(/^automaton: /, '')).join('; ')
  return said || `automaton ${o.args[0]} ended with ${result.exitCode ?? result.signal}`
}
