import { haltWords } from '../../commands/halt-words.ts'
import type { LoopLine, LoopListReport, Trend } from '../../commands/loop-list.ts'
import { clip, table } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { clockTime, relative } from './time.ts'

/** Every loop: one row, and below it its task and why it halted. */
export function loopListText(raw: LoopListReport, page: Page): string {
  const { at, loops } = safe(raw)
  if (loops.length === 0) return 'no loops yet: automaton create-loop nightly --from-template backlog'
  const rows = loops.map((line) => [
    line.loop,
    line.ticking ? 'ticking' : (line.status ?? 'unreadable'),
    `${line.iteration}/${line.max_iterations ?? '?'}`,
    line.score === null ? '-' : `${line.score.toFixed(2)}${arrow(line.trend)}`,
    relative(line.last_tick_at, at),
    line.next_tick_at === null ? '-' : relative(line.next_tick_at, at),
  ])
  const [head = '', ...lines] = table(
    ['LOOP', 'STATUS', 'TICK', 'SCORE', 'LAST TICK', 'NEXT TICK'],
    rows,
    page.width,
  )
  const body = lines.flatMap((row, i) => [row, ...below(loops[i], page)])
  return [page.colors.dim(head), ...body].join('\n')
}

function below(line: LoopLine | undefined, { width, colors }: Page): string[] {
  if (!line) return []
  const { task, phase, halt_reason: reason, halt_detail: detail, waits_until: until, problem } = line
  const notes: [(text: string) => string, string | null][] = [
    [colors.dim, task && `${task}${phase ? ` (${phase})` : ''}`],
    [colors.yellow, until && `the agent is rate limited: waits until ${clockTime(until)}`],
    [colors.red, reason && `halted: ${reason} (${haltWords({ reason, detail: detail ?? '' })})`],
    [colors.red, problem],
  ]
  return notes.flatMap(([paint, text]) => (text ? [paint(clip(`  ${text}`, width))] : []))
}

function arrow(trend: Trend | null): string {
  if (trend === null) return ''
  return { rising: ' ↑', falling: ' ↓', flat: ' →' }[trend]
}
