import { exec } from '../system/exec.ts'
import type { Deps } from './deps.ts'
import type { TickReport } from './report.ts'

/** A tick that ran as a process of its own. */
export interface TickProcess {
  loop: string
  /** null when it was killed. */
  exitCode: number | null
  /** What came of it; null when it could not report. */
  report: TickReport | null
  /** Its error, when it had one. */
  message: string | null
}

// A tick ends its own session within its grace period and cleans up; the daemon waits longer than that.
const graceMs = 15_000

/** Runs a tick of the loop in a process of its own, which is told to stop when automaton is. */
export async function tickInProcess(loop: string, deps: Deps): Promise<TickProcess> {
  const argv = [...deps.self, 'tick', loop, '--json', '--project', deps.project.root]
  const env = Object.fromEntries(
    Object.entries(deps.env).filter((e): e is [string, string] => e[1] !== undefined),
  )
  const result = await exec({ argv, cwd: deps.project.root, env, signal: deps.signal, graceMs })
  return tickEnd({ loop, exitCode: result.exitCode, output: result.stdout || result.stderr })
}

/** What a tick that ended has to say: the object that it printed, its report or its error. */
export function tickEnd(o: { loop: string; exitCode: number | null; output: string }): TickProcess {
  const answer = lastObject(o.output)
  return {
    loop: o.loop,
    exitCode: o.exitCode,
    report: isReport(answer) ? answer : null,
    message: typeof answer?.message === 'string' ? answer.message : null,
  }
}

/** A tick prints one object, after its progress where it could not report. */
function lastObject(output: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(output.trim().split('\n').at(-1) ?? '')
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

/** It comes from this same program. */
function isReport(answer: object | null): answer is TickReport {
  return answer !== null && 'outcome' in answer
}
