import type { Role } from '../api/harness.ts'
import type { Verdict } from '../api/verdict.ts'
import type { Phase } from '../api/work.ts'
import type { ExitCode } from '../errors.ts'
import type { GateResult } from '../machine/gate.ts'
import type { Halt } from '../machine/state.ts'
import { isTamper } from './halt.ts'

/** What one tick spent. */
export interface Spent {
  /** US dollars that sessions reported. */
  usd: number
  tokens: number
  /** False when a session reported no money. */
  reported: boolean
  seconds: number
}

/** What every outcome of a tick says. */
interface Common {
  loop: string
  /** What the tick before left behind and what was done about it, for people; null when it had ended well. */
  recovered: string | null
  warnings: string[]
}

/** How a tick ended. */
export type TickReport = Common &
  (
    | { outcome: 'busy'; holder: string }
    | { outcome: 'not_due'; due: string }
    | {
        /** `schedule.kind` of loop.json says that no scheduler ticks this loop. */
        outcome: 'unscheduled'
        kind: 'daemon' | 'manual'
      }
    | {
        outcome: 'refused'
        gate: GateResult
        /** The halt that cleaning up after the tick before ended in; one that the gate found is in `gate`. */
        halt: Halt | null
      }
    | { outcome: 'no_work'; passed: { task: string; owner: string }[] }
    | {
        outcome: 'session_failed'
        tick: number
        role: Role
        task: string
        why: string
        fix: string
        errorsInARow: number
        halt: Halt | null
        spent: Spent
      }
    | {
        /** The agent's limit is reached: no scheduled tick before `until`. */
        outcome: 'rate_limited'
        tick: number
        role: Role
        task: string
        why: string
        /** ISO-8601 UTC. */
        until: string
        spent: Spent
      }
    | {
        outcome: 'worked'
        tick: number
        task: string
        from: Phase
        to: Phase
        verdict: Verdict | null
        /** The operation that was applied, in words. */
        action: string
        /** Why that one. */
        why: string
        halt: Halt | null
        complete: boolean
        spent: Spent
      }
  )

/** The exit code of a tick (contract, section 2). */
export function tickExit(report: TickReport): ExitCode {
  switch (report.outcome) {
    case 'busy':
    case 'not_due':
    case 'unscheduled':
    case 'no_work':
    case 'rate_limited':
      return 0
    case 'refused':
      return report.halt ? haltExit(report.halt) : gateExit(report.gate)
    case 'session_failed':
      return report.halt ? haltExit(report.halt) : 5
    case 'worked':
      return report.halt ? haltExit(report.halt) : 0
  }
}

/** The exit code of a gate that refused; 0 when it did not. */
export function gateExit(gate: GateResult): ExitCode {
  if (gate.ok) return 0
  switch (gate.reason) {
    case 'refused:config':
      // The name of a plugin is right, and the plugin is not.
      return /^plugin "[^"]+" failed in /.test(gate.detail) ? 5 : 2
    case 'refused:no_git':
    case 'refused:no_base_branch':
    case 'refused:harness':
    case 'refused:sandbox':
      return 5
    default:
      return gate.detail.startsWith('tamper:') ? 6 : 3
  }
}

function haltExit(halt: Halt): ExitCode {
  return isTamper(halt) ? 6 : 4
}
