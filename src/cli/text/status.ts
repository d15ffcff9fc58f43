import { haltFile, haltWords } from '../../commands/halt-words.ts'
import { memoryWords, roleWords } from '../../commands/memory-words.ts'
import { spentWords } from '../../commands/spent-words.ts'
import type { LoopPage, StatusReport } from '../../commands/status.ts'
import { advice } from '../advice.ts'
import { clip, field, hang, widthOf } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { nextLines } from './next.ts'
import { clockTime, duration, relative } from './time.ts'

const shownFiles = 10

/** The one page: each loop, tasks that wait for a person, what to type next. */
export function statusText(raw: StatusReport, page: Page): string {
  const report = safe(raw)
  const loops = report.loops.flatMap((loop) => [...loopLines(loop, report.at, page), ''])
  if (report.loops.length === 0) {
    return [`no loops yet in ${report.project}`, '', ...nextLines(report.next, page)].join('\n')
  }
  const { open, complete, waiting } = report.tasks
  return [
    ...loops,
    `${open} open ${open === 1 ? 'task' : 'tasks'}, ${complete} complete`,
    ...waiting.map(({ task, reason }) => clip(`  ${task} waits for you: ${reason}`, page.width)),
  ].join('\n')
}

function loopLines(loop: LoopPage, now: string, page: Page): string[] {
  const { width, colors } = page
  const line = (label: string, text: string | null) => field(label, text, width)
  return [
    ...heading(loop.loop, headline(loop, now, page), page),
    ...(loop.pause_requested ? ['  it pauses after this tick'] : []),
    ...line('about', loop.description),
    ...line('why', why(loop)),
    ...files(loop),
    ...line('task', loop.task && `${loop.task}${loop.phase ? `, ${loop.phase}` : ''}`),
    ...line('last tick', lastTick(loop, now)),
    ...line('verdict', isOfLastTick(loop) ? null : graded(loop)),
    ...line('hint', loop.last_verdict?.next_hint ?? null),
    ...line('scores', scores(loop)),
    ...line(
      'ticks',
      `${loop.iteration}${loop.max_iterations === null ? '' : ` of ${loop.max_iterations}`} since the last approval, ${loop.ticks} in all`,
    ),
    ...line('spent', spent(loop)),
    ...line('waits', waits(loop, now)),
    ...line('next tick', nextTick(loop, now)),
    ...line('limits', limits(loop)),
    ...line('context', context(loop)),
    ...loop.warnings.flatMap((text) => hang('  warning: ', text, width).map(colors.yellow)),
    ...loop.problems.flatMap(({ what, fix }) =>
      advice('  problem: ', `${what}; ${fix}`, width).map(colors.red),
    ),
    ...nextLines(loop.next, page).map((text) => `  ${text}`),
  ]
}

/** On one line where it fits. */
function heading(name: string, text: string, { width, colors }: Page): string[] {
  if (widthOf(name) + 2 + widthOf(text) <= width) return [`${colors.bold(name)}  ${text}`]
  return [colors.bold(clip(name, width)), `  ${text}`]
}

function headline({ status, running, halt, containment }: LoopPage, now: string, { colors }: Page): string {
  if (running)
    return colors.cyan(`tick ${running.tick}: ${running.step}, since ${relative(running.since, now)}`)
  if (halt) return colors.red(`halted: ${halt.reason}`)
  if (status === null) return colors.red('its state cannot be read')
  if (status === 'running' && containment === null)
    return colors.red('running, but nothing ticks: loop.json cannot be read')
  return status === 'running' ? colors.green('running, waiting for its next tick') : status
}

function why({ halt }: LoopPage): string | null {
  return halt && `${haltWords(halt)}, ${clockTime(halt.at)} (halt ${halt.id})`
}

function files({ halt }: LoopPage): string[] {
  if (!halt) return []
  const more = halt.files.length - shownFiles
  const names = halt.files.slice(0, shownFiles).map((file) => `              ${haltFile(file)}`)
  return more > 0 ? [...names, `              and ${more} more`] : names
}

function lastTick(loop: LoopPage, now: string): string {
  const when = relative(loop.last_tick_at, now)
  if (!hasWorked(loop)) return when
  return `${when}: ${isOfLastTick(loop) ? graded(loop) : `tick ${loop.ticks}, without a verdict`}`
}

/** The last tick found work and came to its end. */
function hasWorked({ last_tick_at: tick, last_work_at: work }: LoopPage): boolean {
  return tick !== null && work !== null && Date.parse(work) >= Date.parse(tick)
}

/** A tick that halts before the verdict, fails or finds no work leaves that of an earlier one. */
function isOfLastTick(loop: LoopPage): boolean {
  return hasWorked(loop) && loop.last_verdict?.tick === loop.ticks
}

function graded({ last_verdict: verdict }: LoopPage): string | null {
  if (!verdict) return null
  const grade = `${verdict.pass ? 'pass' : 'fail'} ${verdict.score.toFixed(2)}`
  const reasons = verdict.reasons.slice(0, 3).join('; ')
  return `tick ${verdict.tick}, ${verdict.task} ${verdict.phase}, ${grade}${reasons ? `: ${reasons}` : ''}`
}

function scores({ scores: list, trend }: LoopPage): string | null {
  if (list.length < 2) return null
  return `${list.map((score) => score.toFixed(2)).join(' ')} (${trend})`
}

function spent({
  spent: { usd, tokens, wall_seconds, reported },
  remaining_budget_usd: left,
}: LoopPage): string {
  const cap = left === null ? '' : `, $${left.toFixed(2)} left`
  const cost = spentWords({ usd, tokens, reported })
  return `${cost}, ${duration(wall_seconds)} since the last approval${cap}`
}

function waits({ waits_until: until }: LoopPage, now: string): string | null {
  return until && `until ${clockTime(until)} (${relative(until, now)}): the agent is rate limited`
}

function nextTick(
  { next_tick_at: at, interval_seconds: interval, status, schedule }: LoopPage,
  now: string,
): string | null {
  if (status !== 'running' || interval === null) return null
  if (at === null) return 'when you say so'
  const who = schedule.scheduler === null ? 'where a schedule or the daemon runs' : `by ${schedule.scheduler}`
  return `${relative(at, now)}, every ${duration(interval)}, ${who}`
}

function limits({ containment }: LoopPage): string {
  if (!containment) return 'unknown'
  const { tier, why, where, scope } = containment
  const may = `works in a ${where}, may change ${scope.join(', ') || 'everything but the protected files'}`
  return tier === null ? may : `${tier}: ${may} (${why})`
}

function context({ context: known }: LoopPage): string | null {
  if (!known) return null
  const roles = known.roles.map((role) => `${role.role} ${roleWords(role)}`).join(', ')
  const memory =
    known.detected && known.detected.bytes !== null ? `; memory: ${memoryWords(known.detected)}` : ''
  return roles + memory
}
