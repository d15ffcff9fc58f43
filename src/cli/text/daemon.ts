import type { LoopNow } from '../../commands/daemon.ts'
import type { DaemonCheck } from '../../commands/daemon-check.ts'
import { haltWords } from '../../commands/halt-words.ts'
import type { TickReport } from '../../runner/report.ts'
import type { TickProcess } from '../../runner/tick-process.ts'
import { safeLine } from '../safe.ts'
import { duration, relative } from './time.ts'

/** One line about one tick. */
export function daemonLine({ loop, exitCode, report, message }: TickProcess): string {
  const what = report ? reportWords(report) : (message ?? endWords(exitCode))
  return safeLine(`${loop}: ${what}`)
}

/** One line about a loop that is seen for the first time, or whose state has changed; null: there is none. */
export function loopLine(loop: LoopNow | null, now: string): string {
  if (loop === null) return 'no loop runs here yet: automaton create-loop --help'
  const { status, detail, next_tick_at, intervalSeconds } = loop
  if (intervalSeconds === null) {
    return safeLine(`${loop.loop}: ${status}${detail === null ? '' : `: ${detail}`}`)
  }
  const next = next_tick_at === null ? 'now' : relative(next_tick_at, now)
  return safeLine(`${loop.loop}: ticks ${next}, every ${duration(intervalSeconds)}`)
}

/** Whether the daemon still writes its status. */
export function checkText({ why, status }: DaemonCheck): string {
  if (why !== null || !status) return `not healthy: ${why}`
  const { loops } = status
  const ticking = loops.filter(({ status }) => status === 'ticking').map(({ loop }) => loop)
  const doing = ticking.length > 0 ? `ticking ${ticking.join(', ')}` : 'waiting'
  return safeLine(`healthy: ${loops.length} ${loops.length === 1 ? 'loop' : 'loops'}, ${doing}`)
}

function endWords(exitCode: number | null): string {
  if (exitCode === 130 || exitCode === 143) return 'the tick was interrupted'
  return exitCode === null ? 'the tick was killed' : `the tick ended with exit code ${exitCode}`
}
function reportWords(report: TickReport): string {
  switch (report.outcome) {
    case 'busy':
      return `already running (${report.holder})`
    case 'not_due':
      return `not due before ${report.due}`
    case 'unscheduled':
      return `not for schedulers: schedule.kind is "${report.kind}"`
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
