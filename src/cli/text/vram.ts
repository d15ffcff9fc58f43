import { memoryWords, roleWords } from '../../commands/memory-words.ts'
import type { VramReport } from '../../commands/vram.ts'
import type { RoleContext } from '../../machine/budget.ts'
import { field, hang, wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { relative } from './time.ts'

/** The memory, what each probe said, the windows of each loop, and what to do about one below the floor. */
export function vramText(raw: VramReport, { width, colors }: Page): string {
  const report = safe(raw)
  const { at, detected, available, loops, fix } = report
  const line = (label: string, text: string | null) => field(label, text, width)
  const roles = (list: RoleContext[]) =>
    list.flatMap((context) => {
      const text = line(context.role, roleWords(context))
      return context.effective < report.floor ? text.map(colors.red) : text
    })
  return [
    colors.bold('memory'),
    ...line('found', memoryWords(detected)),
    ...line('looked', relative(detected.at, at)),
    ...line('room', available === null ? null : `${available} tokens of context, whatever the model`),
    ...detected.tried.flatMap(({ probe, outcome }) => hang(`  ${probe}: `, outcome, width).map(colors.dim)),
    ...settings(report, line),
    ...(loops.length > 0
      ? loops.flatMap(({ loop, harness, roles: list }) => [
          '',
          `${colors.bold(loop)}  ${harness}`,
          ...roles(list),
        ])
      : ['', colors.bold('a new loop'), ...roles(report.roles)]),
    '',
    ...wrap(`a task has to fit ${report.smallest} tokens; under ${report.floor} nothing is started`, width),
    ...(fix === '' ? [] : hang('fix: ', `${fix} (${report.config})`, width).map(colors.bold)),
  ].join('\n')
}

/** What `config.md` says. */
function settings(
  { backend, override, server }: VramReport,
  line: (label: string, text: string | null) => string[],
): string[] {
  const { all, ...single } = override
  const overrides = [
    ...(all === null ? [] : [String(all)]),
    ...Object.entries(single).map((pair) => pair.join(' ')),
  ]
  const words = server?.models.map(({ model, tokens }) => `${model} ${tokens} tokens`).join(', ')
  const said = server && `${server.kind ?? 'a server'} at ${server.url}: ${server.problem ?? words}`
  return [
    ...line('backend', backend === 'auto' ? null : backend),
    ...line('override', overrides.join(', ')),
    ...line('server', said),
  ]
}
