import type { PluginsReport } from '../../commands/plugins.ts'
import { table } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'

/** The plugins, one a line. */
export function pluginsText(raw: PluginsReport, { width, colors }: Page): string {
  const rows = safe(raw).plugins.map(({ role, name, origin, replacedBy }) => [
    role ?? 'hooks',
    name,
    replacedBy ? `${origin}, replaced by ${replacedBy}` : origin,
  ])
  const [head = '', ...lines] = table(['ROLE', 'NAME', 'FROM'], rows, width)
  return [colors.dim(head), ...lines].join('\n')
}
