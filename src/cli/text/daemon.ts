import type { DaemonTick } from '../../commands/daemon.ts'
import { haltWords } from '../../commands/halt-words.ts'
import type { TickReport } from '../../runner/report.ts'
import { safeLine } from '../safe.ts'

/** One line about one tick. */
export function daemonLine({ loop, exit, output }: DaemonTick): string {
  return safeLine(`${loop}: ${what(output, exit)}`)
}

function what(output: string, exit: number | null): string {
  const answer = lastObject(output)
  if (isReport(answer)) return reportWords(answer)
  if (typeof answer?.message === 'string') return answer.message
  return exit === null ? 'the tick was killed' : `the tick ended with exit code ${exit}`
}

function reportWords(report: TickReport): string {
  switch (report.outcome) {
    case 'busy':
      return `already running (${report.holder})`
    case 'not_due':
      return `not due before ${report.due}`
    case 'no_work':
      return 'no work'
    case 'refused': {
      const { reason, halt_reason, detail } = report.gate
      return `did not tick: ${reason}, ${halt_reason ? haltWords({ reason: halt_reason, detail }) : detail}`
    }
    case 'session_failed':
      return `tick ${report.tick}, the ${report.role} session failed: ${report.why}${haltNote(report)}`
    case 'rate_limited':
      return `tick ${report.tick}, the agent is rate limited: no tick before ${report.until}`
    case 'worked': {
      const { tick, task, from, to, verdict } = report
      const moved = from === to ? `${from} stays` : `${from} → ${to}`
      const grade = verdict ? `, ${verdict.pass ? 'pass' : 'fail'} ${verdict.score.toFixed(2)}` : ''
      const held = from === to && verdict?.pass ? ` (${report.why})` : ''
      return `tick ${tick}, ${task} ${moved}${grade}${held}${haltNote(report)}`
    }
  }
}

function haltNote({ halt }: Extract<TickReport, { halt: unknown }>): string {
  return halt ? `; halted: ${halt.reason}, ${haltWords(halt)}` : ''
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
