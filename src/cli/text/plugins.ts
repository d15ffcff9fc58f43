import type { PluginsReport } from '../../commands/plugins.ts'
import type { CheckReport } from '../../commands/plugins-check.ts'
import type { NewPluginReport } from '../../commands/plugins-new.ts'
import type { TrustReport } from '../../commands/plugins-trust.ts'
import { adviceField } from '../advice.ts'
import { field, table, wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'

/** The plugins, one a line, and what is wrong with some of them. */
export function pluginsText(raw: PluginsReport, page: Page): string {
  const { width, colors } = page
  const { plugins } = safe(raw)
  const rows = plugins.map((one) => [one.role ?? 'hooks', one.name, stateOf(one), originOf(one)])
  const [head = '', ...lines] = table(['ROLE', 'NAME', 'STATE', 'FROM'], rows, width)
  const problems = plugins.flatMap(({ problem }) =>
    problem
      ? ['', ...wrap(colors.yellow(problem.message), width), ...adviceField('fix', problem.fix, width)]
      : [],
  )
  const notes = plugins.flatMap(({ role, name, origin, replaces }) =>
    replaces ? ['', ...wrap(`${role ?? 'plugin'} "${name}" (${origin}) replaces ${replaces}`, width)] : [],
  )
  return [colors.dim(head), ...lines, ...notes, ...problems].join('\n')
}

/** What was written, and what comes next. */
export function newPluginText(raw: NewPluginReport, page: Page): string {
  const { role, name, file, test, declarations, replaces, next } = safe(raw)
  const { width, colors } = page
  const kind = role === 'hooks' ? 'listener' : role
  return [
    colors.bold(`A ${kind} "${name}" was written.`),
    ...field('plugin', file, width),
    ...field('test', test, width),
    ...field('types', declarations, width),
    ...field(
      'note',
      replaces && `once trusted it takes the place of the ${role} "${name}" (${replaces})`,
      width,
    ),
    ...next.flatMap((command, i) => adviceField(i === 0 ? 'next' : '', command, width)),
  ].join('\n')
}

/** What is trusted now. */
export function trustText(raw: TrustReport, page: Page): string {
  const { name, role, file, files, tests, replaces, problem, next } = safe(raw)
  const { width, colors } = page
  return [
    colors.bold(`${role ?? 'plugin'} "${name}" is trusted as it is now.`),
    ...field('file', file, width),
    ...field('with', [...files, ...tests].slice(0, 20).join(', '), width),
    ...field('replaces', replaces, width),
    ...(problem ? field('but', problem.message, width) : []),
    ...adviceField('next', next, width),
  ].join('\n')
}

/** One line for each check. */
export function checkText(raw: CheckReport, page: Page): string {
  const { name, ok, checks, notes } = safe(raw)
  const { width, colors } = page
  const lines = checks.flatMap((check) => [
    ...wrap(`${check.ok ? colors.green('ok  ') : colors.red('FAIL')}  ${check.suite}: ${check.name}`, width),
    ...(check.why ? field('', check.why, width) : []),
  ])
  const failed = checks.filter((check) => !check.ok).length
  const sum = ok
    ? `"${name}" does what it must: ${checks.length} checks passed.`
    : `"${name}": ${failed} of ${checks.length} checks failed.`
  return [...lines, ...notes.flatMap((note) => wrap(note, width)), '', colors.bold(sum)].join('\n')
}

function stateOf({ origin, trusted, problem }: PluginsReport['plugins'][number]): string {
  if (origin === 'built-in') return ''
  if (!trusted) return 'not trusted'
  return problem ? 'broken' : 'trusted'
}

function originOf({ origin, replacedBy }: PluginsReport['plugins'][number]): string {
  return replacedBy ? `${origin}, replaced` : origin
}
