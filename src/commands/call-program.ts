import type { App } from '../app.ts'
import { exec } from '../system/exec.ts'

/** How a command went. */
export interface ProgramCall {
  /** What it said when it failed; null when it worked. */
  problem: string | null
  /** The `warnings` of its report. */
  warnings: string[]
}

/**
 * Runs a command of an automaton on this disk to its end, as the person would. In a process of its own it is at home in
 * another project, with that project's plugins.
 */
export async function callProgram(
  app: App,
  o: { program: string; home: string; args: readonly string[] },
): Promise<ProgramCall> {
  const env = Object.entries(app.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const result = await exec({
    argv: [o.program, ...o.args, '--json'],
    cwd: app.cwd,
    env: { ...Object.fromEntries(env), AUTOMATON_HOME: o.home },
    timeoutMs: 60_000,
    signal: app.signal,
  })
  app.signal.throwIfAborted()
  const { exitCode, signal, stdout, stderr } = result
  if (exitCode === 0) return { problem: null, warnings: warningsIn(stdout) }
  return {
    problem: problemIn(stderr) ?? `automaton ${o.args[0]} ended with ${exitCode ?? signal}`,
    warnings: [],
  }
}

function warningsIn(report: string): string[] {
  const { warnings } = objectIn(report)
  return Array.isArray(warnings) ? warnings.map(String) : []
}

/** What happened and what to do, from the last line of standard error. */
function problemIn(stderr: string): string | null {
  const { message, fix } = objectIn(stderr.trim().split('\n').at(-1) ?? '')
  return typeof message === 'string' ? `${message}; ${String(fix)}` : null
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
