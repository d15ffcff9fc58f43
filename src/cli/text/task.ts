import type { CreateTaskReport } from '../../commands/create-task.ts'
import type { TaskListReport, TaskReport } from '../../commands/task.ts'
import { field, hang, table, wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe, safeLines } from '../safe.ts'
import { nextLines } from './next.ts'
import { clockTime } from './time.ts'

/** The task that was made, or was there. */
export function createTaskText(raw: CreateTaskReport, page: Page): string {
  const { created, task, next } = safe(raw)
  const made = created
    ? `made task ${task.task}, in ${task.phase}`
    : `task ${task.task} is that task, in ${task.phase}`
  return [...wrap(made, page.width), ...nextLines([next], page)].join('\n')
}

/** One task, its brief and its history. */
export function taskText(raw: TaskReport, page: Page): string {
  const { task, files, loop } = safe(raw)
  const { width, colors } = page
  const owner = task.claimed_by ?? (loop && `loop ${loop}`)
  const history = task.history.flatMap(({ at, from, to, actor, note }) => {
    const step = `${from ? `${from} → ${to}` : to}, ${actor}${note ? `: ${note}` : ''}`
    return hang(`${clockTime(at)}  `, step, width)
  })
  return [
    `${colors.bold(task.task)}  ${task.phase}`,
    ...field('blocked', task.blocked_reason, width),
    ...field('claimed by', owner, width),
    ...field('design', task.design_ref, width),
    ...field('scope', task.scope.join(', '), width),
    ...task.acceptance_criteria.flatMap((text, i) => field(i === 0 ? 'done when' : '', text, width)),
    ...field('files', files.join(', '), width),
    '',
    safeLines(raw.brief).trimEnd(),
    '',
    ...history,
    ...nextLines(waits(task.phase) ? [`automaton approve --task ${task.task}`] : [], page),
  ].join('\n')
}

/** Every task in a row. */
export function taskListText(raw: TaskListReport, { width, colors }: Page): string {
  const { tasks, untracked } = safe(raw)
  if (tasks.length === 0 && untracked.length === 0)
    return 'no tasks yet: automaton create-task NAME --brief FILE'
  const rows = tasks.map(({ task, phase, claimed_by, loop, blocked_reason }) => [
    task,
    phase,
    claimed_by ?? (loop ? `loop ${loop}` : '-'),
    blocked_reason ?? '',
  ])
  const [head = '', ...lines] = table(['TASK', 'PHASE', 'CLAIMED BY', 'WAITS FOR'], rows, width)
  const bad = untracked.map((name) => colors.yellow(`${name}  untracked or unreadable: automaton audit`))
  return [colors.dim(head), ...lines, ...bad].join('\n')
}

function waits(phase: string): boolean {
  return phase === 'human_intervention' || phase === 'design'
}
