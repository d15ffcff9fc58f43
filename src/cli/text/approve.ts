import type { ApproveReport } from '../../commands/approve.ts'
import { haltFile, haltWords } from '../../commands/halt-words.ts'
import { wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { nextLines } from './next.ts'

const shown = 20

/** What came of an approval; after a refused one, the ways out. */
export function approveText(raw: ApproveReport, page: Page): string {
  const { loop, approved, halt, kept, kept_folder } = safe(raw)
  const { width, colors } = page
  const keptLine = [
    ...(kept ? wrap(`what the worktree had is kept as ${kept}`, width) : []),
    ...(kept_folder ? wrap(`the repositories inside it are kept in ${kept_folder}`, width) : []),
  ]
  if (approved) {
    const head = `${loop} is approved and running; ${halt.reason} is cleared`
    return [...wrap(head, width), ...keptLine, ...nextLines([`automaton tick ${loop}`], page)].join('\n')
  }
  const more = halt.files.length - shown
  const found = halt.files.length > 0 ? 'files are still out of scope:' : `${haltWords(halt)}.`
  return [
    ...wrap(colors.red(`${loop} is halted again (${halt.id}): ${found}`), width),
    ...halt.files.slice(0, shown).map((file) => `  ${haltFile(file)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...keptLine,
    'One of these, then approve again:',
    '  put the worktree back to its last verified commit:',
    `    ${colors.bold(`automaton approve --loop ${loop} --halt ${halt.id} --discard`)}`,
    ...(halt.files.length > 0 ? ['  allow the files: widen blast_radius.file_scope in loop.json'] : []),
    '  or put it right yourself in the worktree',
  ].join('\n')
}
