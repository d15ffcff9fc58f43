import type { TickReport } from '../../runner/report.ts'
import { field } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'

/** What one tick did, for the person who started it. */
export function tickText(raw: TickReport, page: Page): string {
  const report = safe(raw)
  const line = (label: string, text: string | null) => field(label, text, page.width)
  return [
    headline(report, page),
    ...line('recovered', report.recovered),
    ...body(report).flatMap(([label, text]) => line(label, text)),
    ...report.warnings.flatMap((warning) => line('warning', warning)),
    ...line('next', nextCommand(report)),
  ].join('\n')
}

function headline(report: TickReport, { colors }: Page): string {
  const { loop } = report
  switch (report.outcome) {
    case 'busy':
      return `${loop} is already running (${report.holder})`
    case 'not_due':
      return `${loop} is not due before ${report.due}`
    case 'refused':
      return colors.yellow(`${loop} did not tick: ${report.gate.reason}`)
    case 'no_work':
      return `${loop} found no work`
    case 'session_failed':
      return colors.red(`${loop} tick ${report.tick}: the ${report.role} session failed`)
    case 'worked': {
      const moved = report.from === report.to ? `${report.from} stays` : `${report.from} → ${report.to}`
      return colors.bold(`${loop} tick ${report.tick}: ${report.task} ${moved}`)
    }
  }
}

function body(report: TickReport): [string, string | null][] {
  switch (report.outcome) {
    case 'busy':
    case 'not_due':
      return []
    case 'refused':
      return [
        ['why', report.gate.detail],
        ['files', report.gate.out_of_scope_files.join(', ')],
      ]
    case 'no_work':
      return report.passed.map(({ task, owner }) => ['passed', `${task}: ${owner} has it`])
    case 'session_failed':
      return [
        ['why', report.why],
        ['errors', `${report.errorsInARow} in a row`],
        ...haltLines(report),
        ['spent', spentText(report.spent)],
      ]
    case 'worked':
      return [
        ['verdict', verdictText(report)],
        ['action', report.action],
        ...haltLines(report),
        ['spent', spentText(report.spent)],
      ]
  }
}

function haltLines({ halt }: Extract<TickReport, { spent: unknown }>): [string, string | null][] {
  if (!halt) return []
  return [
    ['halted', halt.detail === '' ? halt.reason : `${halt.reason}: ${halt.detail}`],
    ['files', halt.files.join(', ')],
  ]
}

function verdictText({ verdict }: Extract<TickReport, { outcome: 'worked' }>): string | null {
  if (!verdict) return null
  const grade = `${verdict.pass ? 'pass' : 'fail'}, score ${verdict.score.toFixed(2)}`
  return verdict.reasons.length > 0 ? `${grade}: ${verdict.reasons.join('; ')}` : grade
}

/** Money and time in short; a sum that a session kept quiet about says so. */
export function spentText(spent: {
  usd: number
  tokens: number
  reported: boolean
  seconds: number
}): string {
  const money = spent.reported || spent.usd > 0 ? `$${spent.usd.toFixed(4)}` : null
  const parts = [
    `${spent.seconds.toFixed(1)} s`,
    spent.tokens > 0 ? `${spent.tokens} tokens` : null,
    money,
    spent.reported ? null : 'cost not reported by every session',
  ]
  return parts.filter((part) => part !== null).join(', ')
}

function nextCommand(report: TickReport): string | null {
  switch (report.outcome) {
    case 'busy':
    case 'not_due':
      return null
    case 'refused':
      return report.gate.fix
    case 'no_work':
      return 'automaton create-task NAME --brief FILE'
    case 'session_failed':
      return report.halt ? `automaton status ${report.loop}` : report.fix
    case 'worked':
      if (report.halt) return `automaton status ${report.loop}`
      return report.complete ? `git log automaton/${report.loop}` : `automaton tick ${report.loop}`
  }
}
