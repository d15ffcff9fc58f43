import type { InstallReport } from '../../commands/install.ts'
import type { HomeReport } from '../../commands/install-home.ts'
import type { LoopInstall } from '../../commands/install-loop.ts'
import { advice } from '../advice.ts'
import { field } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { nextLines } from './next.ts'

/** What an installation did, and what to type now. */
export function installText(raw: InstallReport, page: Page): string {
  const { home, repository, program, loop, warnings, next } = safe(raw)
  const { width, colors } = page
  return [
    `automaton ${program.version} is in ${colors.bold(home)}`,
    ...field('repository', repositoryWords[repository.outcome](repository), width),
    ...field('program', `${program.file}${program.replaced ? '' : ', as it was'}`, width),
    ...field('loop', `${loop.name}: ${loopWords[loop.state]}${loop.scheduled ? ', scheduled' : ''}`, width),
    ...warnings.flatMap((warning) => advice('warning: ', warning, width).map(colors.yellow)),
    '',
    ...nextLines(next, page),
  ].join('\n')
}

const repositoryWords: Record<HomeReport['outcome'], (report: HomeReport) => string> = {
  cloned: ({ url, branch }) => `cloned ${branch} of ${url}`,
  filled: ({ url, branch }) => `${url} was empty: the first files are committed on ${branch}, and not pushed`,
  updated: ({ branch, commit }) => `${branch} went forward to ${commit.slice(0, 10)}`,
  current: ({ branch, unpushed }) =>
    `${branch} is up to date${unpushed ? '; its remote does not have it yet' : ''}`,
  ahead: ({ branch }) => `${branch} has commits that its remote lacks`,
}

const loopWords: Record<LoopInstall['state'], string> = {
  made: 'made',
  there: 'there',
  deleted: 'you deleted it, and it stays so',
  missing: 'could not be made',
}
