import { projectHash, type Unit } from 'automaton'
import { cronPeriod } from './cron-period.ts'

/** What a crontab says of one loop. Tables are `latin1` text: every byte is one character. */
export interface CronEntry {
  installed: boolean
  /** False for a line that somebody turned into a comment. */
  enabled: boolean
  drift: string[]
}

/** The line that ticks a loop; `refused` where cron cannot. */
export type CronLine = { line: string } | { refused: string }

/** The line for a unit. It ends in a comment, for `/bin/sh` and for people, that says whose it is. */
export function cronLine(unit: Unit): CronLine {
  const period = cronPeriod(unit.intervalSeconds)
  if ('refused' in period) return period
  if (/\p{Cc}/u.test(unit.script))
    return { refused: `the path ${JSON.stringify(unit.script)} has a control character` }
  const line = `${period.expression} ${cronWord(bytesOf(unit.script))} ${markerOf(unit)}`
  // More than this the older crons do not read.
  return line.length < 990 ? { line } : { refused: `the path ${unit.script} is too long for a table` }
}

/**
 * The table with exactly one line of this unit: where its first one was, else at the end, where the variables that a table
 * sets are in force. A table without a final newline gets it at the top, so that its bytes stay as they are.
 */
export function withLine(table: string, unit: Unit, line: string): string {
  const lines = linesOf(table)
  const first = lines.findIndex((one) => isOf(one, unit))
  if (first < 0) return /[^\n]$/.test(table) ? `${line}\n${table}` : `${table}${line}\n`
  return lines.flatMap((one, i) => (i === first ? [`${line}\n`] : isOf(one, unit) ? [] : [one])).join('')
}

/** The table without this unit's lines. */
export function withoutLine(table: string, unit: Unit): string {
  return linesOf(table)
    .filter((one) => !isOf(one, unit))
    .join('')
}

/** Compares what the table says of a unit with the line that it should have. */
export function entryOf(table: string, unit: Unit, line: string): CronEntry {
  const own = linesOf(table)
    .filter((one) => isOf(one, unit))
    .map((one) => one.replace(/\r?\n$/, ''))
  const live = own.filter((one) => !/^\s*#/.test(one))
  const wrong = live.find((one) => one !== line)
  return {
    installed: own.length > 0,
    enabled: live.length > 0,
    drift: [
      ...(live.length > 1 ? [`the crontab has ${live.length} lines for it`] : []),
      ...(wrong === undefined ? [] : [`its line in the crontab is ${JSON.stringify(wrong)}`]),
    ],
  }
}

/** What other people have in the table: everything but the lines that automaton wrote, whichever loop they are for. */
export function foreignPart(table: string): string {
  return linesOf(table)
    .filter((one) => !/# automaton-loop:[a-z0-9-]+:[0-9a-f]{8}\r?\n?$/.test(one))
    .join('')
}

/** True when every line of the first table is still in the second, in order. */
export function hasAllOf(before: string, now: string): boolean {
  const bare = (line: string | undefined) => line?.replace(/\n$/, '')
  const left = linesOf(before)
  let found = 0
  for (const line of linesOf(now)) if (bare(line) === bare(left[found])) found += 1
  return found === left.length
}

/**
 * A path as `/bin/sh` reads it out of a crontab. cron itself ends the command at a `%` that has no backslash before it,
 * and some crons take one backslash of two away: so no backslash stands next to another one, or next to a `%`.
 */
export function cronWord(path: string): string {
  if (/^[A-Za-z0-9_./@:,+=-]+$/.test(path)) return path
  return `'${path.replaceAll("'", `'"'"'`).replaceAll('\\', "\\''").replaceAll('%', '\\%')}'`
}

function markerOf({ loop, project }: Unit): string {
  return `# automaton-loop:${loop}:${projectHash(project)}`
}

function isOf(line: string, unit: Unit): boolean {
  return line.replace(/\r?\n$/, '').endsWith(` ${markerOf(unit)}`)
}

/** The lines with their ends; the last one may have none. */
function linesOf(table: string): string[] {
  return table.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** The bytes of a path, each as one character. */
function bytesOf(path: string): string {
  return Buffer.from(path, 'utf8').toString('latin1')
}
