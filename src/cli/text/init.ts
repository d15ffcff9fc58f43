import { filterWords } from '../../commands/filters.ts'
import type { InitReport } from '../../commands/init.ts'
import { field } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { nextLines } from './next.ts'

/** What `init` made and found. */
export function initText(raw: InitReport, page: Page): string {
  const report = safe(raw)
  const { width, colors } = page
  const names = (agents: { name: string }[]) => agents.map(({ name }) => name).join(', ')
  const none =
    report.other_agents.length > 0
      ? 'none that has an adapter'
      : 'none on PATH: install one, or set harness.command in loop.json'
  return [
    `${report.created ? 'made' : 'found'} ${colors.bold('.automaton')} in ${report.project}`,
    ...field('branch', branch(report), width),
    ...field('tests', report.test_command ?? 'no test command found', width),
    ...field('filters', report.filters.length > 0 ? filterWords(report.filters) : '', width),
    ...field('agents', names(report.harnesses) || none, width),
    ...others(names(report.other_agents), width),
    ...field('loops', report.loops.join(', '), width),
    ...field('templates', report.templates.join(', '), width),
    '',
    ...nextLines(report.next, page),
  ].join('\n')
}

/** A hint, and no more: what an agent's command line has to be is not known here. */
function others(names: string, width: number): string[] {
  return field('also', names && `${names}: not supported yet; use harness.command in loop.json`, width)
}

function branch({ git, unborn, base_branch }: InitReport): string {
  if (!git) return 'no git repository here: loops need --no-worktree'
  if (unborn) return 'the repository has no commit yet'
  return base_branch ?? 'none is checked out: name one with --base'
}
