import type { CreateLoopReport } from '../../commands/create-loop.ts'
import { field, hang } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { nextLines } from './next.ts'
import { duration } from './time.ts'

/** The loop that was made. */
export function createLoopText(raw: CreateLoopReport, page: Page): string {
  const { loop, file, template, config, warnings, next } = safe(raw)
  const { width, colors } = page
  const { blast_radius: blast, work_source: source } = config
  const models = [config.roles.implement.model, config.roles.verify.model]
  return [
    `made loop ${colors.bold(loop)} from ${template}`,
    ...field('file', file, width),
    ...field('work', `${source.kind}${source.task ? ` (${source.task})` : ''}`, width),
    ...field('agent', config.harness.command?.join(' ') ?? config.harness.use, width),
    ...field('models', models.every((model) => model === null) ? null : models.map(String).join(', '), width),
    ...field(
      'where',
      blast.worktree ? `a worktree from ${blast.base_branch}` : 'the primary checkout',
      width,
    ),
    ...field('scope', blast.file_scope.join(', ') || 'everything but the protected files', width),
    ...field('interval', duration(config.schedule.interval_seconds), width),
    ...field('brakes', `${config.brakes.max_iterations} ticks between two approvals`, width),
    ...warnings.flatMap((warning) => hang('warning: ', warning, width).map(colors.yellow)),
    '',
    ...nextLines(next, page),
  ].join('\n')
}
