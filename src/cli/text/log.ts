import type { HistoryLine, LogReport, TickLogReport } from '../../commands/log.ts'
import { hang, pad } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe, safeLines } from '../safe.ts'
import { clockTime } from './time.ts'

/** The history, one line a record. */
export function logText(raw: LogReport, { width, colors }: Page): string {
  const { records, problem } = safe(raw)
  const lines = records.flatMap((record) => recordLines(record, width))
  return [...lines, ...(problem ? [colors.red(`the log goes bad here: ${problem}`)] : [])].join('\n')
}

/** One tick: its records, then every file that is kept of it, then what it changed. */
export function tickLogText(raw: TickLogReport, { width, colors }: Page): string {
  const records = safe(raw.records).flatMap((record) => recordLines(record, width))
  const files = raw.files.flatMap(({ name, text }) => [
    '',
    colors.bold(`── ${safe(name)}`),
    safeLines(text).trimEnd(),
  ])
  const diff =
    raw.diff === null ? 'not known any more' : raw.diff === '' ? 'nothing' : safeLines(raw.diff).trimEnd()
  return [...records, ...files, '', colors.bold('── changed'), ...asideLines(raw.aside), diff].join('\n')
}

function asideLines(aside: string | null): string[] {
  if (aside === null) return []
  const where = aside.startsWith('refs/') ? `kept as ${aside}` : `still in ${aside}`
  return [`not committed; ${safe(where)}`]
}

function recordLines({ at, type, data, by }: HistoryLine, width: number): string[] {
  return hang(`${clockTime(at)}  ${pad(type, 10)}  `, summary(type, data, by), width)
}

/** What matters of a record, by its type; the rest is in JSON. */
function summary(type: string, data: Record<string, unknown>, by: string): string {
  const text = (key: string) =>
    typeof data[key] === 'string' || typeof data[key] === 'number' ? `${data[key]}` : ''
  switch (type) {
    case 'tick':
      return join([
        `#${text('tick')} ${grade(data.verdict)}`,
        `${text('task')} ${moved(data)}`,
        held(data),
        haltOf(data),
      ])
    case 'halt':
      return join([text('reason'), text('detail'), `halt ${text('id')}`])
    case 'approve':
      return join([text('reason'), `by ${text('user') || by}`, text('note')])
    case 'error':
      return join([`#${text('tick')}`, text('task'), text('role'), text('why'), haltOf(data)])
    case 'wait':
      return join([
        `#${text('tick')}`,
        text('task'),
        text('role'),
        `waits until ${text('until')}`,
        text('why'),
      ])
    case 'incomplete':
    case 'interrupted':
      return join([`#${text('tick')}`, text('task'), text('step'), text('kept')])
    case 'schedule':
      return join([text('scheduler') || 'removed', `by ${by}`])
    case 'stuck':
      return join([`#${text('tick')}`, text('task'), text('problem'), haltOf(data)])
    default:
      return join([text('task'), text('why'), text('kept'), text('problem'), `by ${by}`])
  }
}

function moved({ phase, phase_after: after }: Record<string, unknown>): string {
  return phase === after ? `${phase} (again)` : `${phase} → ${after}`
}

/** Why good work stayed where it was. */
function held({ verdict, phase, phase_after: after, reason }: Record<string, unknown>): string {
  const isHeld = isObject(verdict) && verdict.pass === true && phase === after
  return isHeld && typeof reason === 'string' ? `(${reason})` : ''
}

function grade(verdict: unknown): string {
  if (!isObject(verdict) || typeof verdict.score !== 'number') return 'no verdict'
  return `${verdict.pass === true ? 'pass' : 'fail'} ${verdict.score.toFixed(2)}`
}

function haltOf({ halt }: Record<string, unknown>): string {
  return isObject(halt) ? `halted: ${halt.reason}` : ''
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function join(parts: string[]): string {
  return parts.filter((part) => part !== '').join(', ')
}
