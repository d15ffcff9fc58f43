import { haltFile, haltWords } from '../../commands/halt-words.ts'
import { spentWords } from '../../commands/spent-words.ts'
import type { TickAnswer } from '../../commands/tick.ts'
import type { TickReport } from '../../runner/report.ts'
import { adviceField } from '../advice.ts'
import { field } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { clockTime } from './time.ts'

const shownTasks = 5

/** What one tick did, for the person who started it. Empty for one that could not be run. */
export function tickText(raw: Pick<TickAnswer, 'report' | 'merge' | 'waiting'>, page: Page): string {
  const { report, merge, waiting } = safe(raw)
  if (!report) return ''
  const line = (label: string, text: string | null) => field(label, text, page.width)
  return [
    headline(report, page),
    ...line('recovered', report.recovered),
    ...body(report, waiting).flatMap(([label, text]) =>
      label === 'fix' && text ? adviceField(label, text, page.width) : line(label, text),
    ),
    ...report.warnings.flatMap((warning) => line('warning', warning)),
    ...nextCommands({ report, merge, waiting }).flatMap((command, i) =>
      adviceField(i === 0 ? 'next' : '', command, page.width),
    ),
  ].join('\n')
}

function headline(report: TickReport, { colors }: Page): string {
  const { loop } = report
  switch (report.outcome) {
    case 'busy':
      return `${loop} is already running (${report.holder})`
    case 'not_due':
      return `${loop} is not due before ${report.due}`
    case 'unscheduled':
      return `${loop} is not for schedulers: loop.json says schedule.kind "${report.kind}"`
    case 'refused':
      return colors.yellow(`${loop} did not tick: ${report.gate.reason}`)
    case 'no_work':
      return `${loop} found no work`
    case 'session_failed':
      return colors.red(`${loop} tick ${report.tick}: the ${report.role} session failed`)
    case 'rate_limited':
      return colors.yellow(`${loop} tick ${report.tick}: the agent is rate limited`)
    case 'worked': {
      const moved = report.from === report.to ? `${report.from} stays` : `${report.from} → ${report.to}`
      return colors.bold(`${loop} tick ${report.tick}: ${report.task} ${moved}`)
    }
  }
}

function body(report: TickReport, waiting: TickAnswer['waiting']): [string, string | null][] {
  switch (report.outcome) {
    case 'busy':
    case 'not_due':
    case 'unscheduled':
      return []
    case 'refused':
      return [
        ['why', gateWords(report.gate)],
        ['files', report.gate.out_of_scope_files.map(haltFile).join(', ')],
      ]
    case 'no_work':
      return leftAlone(report.passed, waiting)
    case 'session_failed':
      return [
        ['why', report.why],
        ['fix', report.fix.startsWith('look at') ? null : report.fix],
        ['errors', `${report.errorsInARow} in a row`],
        ...haltLines(report),
        ['spent', spentText(report.spent)],
      ]
    case 'rate_limited':
      return [
        ['why', report.why],
        ['waits', `until ${clockTime(report.until)}; a tick by hand tries at once`],
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

/** A halt that the gate found is told as the halt itself would be. */
function gateWords({
  halt_reason: reason,
  detail,
}: Extract<TickReport, { outcome: 'refused' }>['gate']): string {
  return reason ? haltWords({ reason, detail }) : detail
}

function leftAlone(
  passed: { task: string; owner: string }[],
  waiting: TickAnswer['waiting'],
): [string, string][] {
  const known = new Set(waiting.map(({ task }) => task))
  const all = [
    ...waiting.map(({ task, why }) => `${task}: ${why}`),
    ...passed.filter(({ task }) => !known.has(task)).map(({ task, owner }) => `${task}: ${owner} has it`),
  ]
  const more = all.length - shownTasks
  const shown = more > 0 ? [...all.slice(0, shownTasks), `and ${more} more: automaton task-list`] : all
  return shown.map((text, i) => [i === 0 ? 'left alone' : '', text])
}

function haltLines({ halt }: Extract<TickReport, { halt: unknown }>): [string, string | null][] {
  if (!halt) return []
  return [
    ['halted', `${halt.reason}: ${haltWords(halt)}`],
    ['files', halt.files.map(haltFile).join(', ')],
  ]
}

function verdictText({ verdict }: Extract<TickReport, { outcome: 'worked' }>): string | null {
  if (!verdict) return null
  const grade = `${verdict.pass ? 'pass' : 'fail'}, score ${verdict.score.toFixed(2)}`
  return verdict.reasons.length > 0 ? `${grade}: ${verdict.reasons.join('; ')}` : grade
}

/** Time and money in short. */
function spentText({ seconds, ...cost }: Extract<TickReport, { spent: unknown }>['spent']): string {
  return `${seconds.toFixed(1)} s, ${spentWords({ ...cost, digits: 4 })}`
}

function nextCommands({
  report,
  merge,
  waiting,
}: Pick<TickAnswer, 'merge' | 'waiting'> & { report: TickReport }) {
  const { loop } = report
  switch (report.outcome) {
    case 'busy':
    case 'not_due':
    case 'unscheduled':
      return []
    case 'refused':
      return report.gate.fix === '' ? [] : [report.gate.fix]
    case 'no_work':
      return [waiting[0]?.fix ?? 'automaton create-task NAME --brief FILE']
    case 'session_failed':
      return [
        ...(report.halt ? [`automaton status ${loop}`] : []),
        `automaton log ${loop} --tick ${report.tick}`,
      ]
    case 'rate_limited':
      return [`automaton status ${loop}`]
    case 'worked': {
      if (report.halt) return [`automaton status ${loop}`]
      const on = report.complete ? `automaton log ${loop}` : `automaton tick ${loop}`
      return merge === null ? [on] : [merge, on]
    }
  }
}
