import type { InitReport } from '../../commands/init.ts'
import { field } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { nextLines } from './next.ts'

/** What `init` made and found. */
export function initText(raw: InitReport, page: Page): string {
  const report = safe(raw)
  const { width, colors } = page
  const harnesses = report.harnesses.map(({ name }) => name).join(', ')
  return [
    `${report.created ? 'made' : 'found'} ${colors.bold('.automaton')} in ${report.project}`,
    ...field('branch', branch(report), width),
    ...field('tests', report.test_command ?? 'no test command found', width),
    ...field('agents', harnesses || 'none on PATH: install one, or set harness.command in loop.json', width),
    ...field('loops', report.loops.join(', '), width),
    ...field('templates', report.templates.join(', '), width),
    '',
    ...nextLines(report.next, page),
  ].join('\n')
}

function branch({ git, unborn, base_branch }: InitReport): string {
  if (!git) return 'no git repository here: loops need --no-worktree'
  if (unborn) return 'the repository has no commit yet'
  return base_branch ?? 'none is checked out: name one with --base'
}
