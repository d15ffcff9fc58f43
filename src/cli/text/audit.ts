import type { AuditReport } from '../../commands/audit.ts'
import { pad, wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'

const shown = 50

/** The violations, most severe first; long lists are cut for people, never in JSON. */
export function auditText(raw: AuditReport, { width, colors }: Page): string {
  const { violations } = safe(raw)
  if (violations.length === 0) return 'nothing is wrong'
  const paint = { CRITICAL: colors.red, HIGH: colors.red, MEDIUM: colors.yellow, LOW: colors.dim }
  const lines = violations.slice(0, shown).flatMap(({ severity, rule, message }) => {
    const [first = '', ...rest] = wrap(`${message} [${rule}]`, width - 10)
    return [
      `${paint[severity](pad(severity, 8))}  ${first}`,
      ...rest.map((line) => `${' '.repeat(10)}${line}`),
    ]
  })
  const more = violations.length - shown
  return [...lines, ...(more > 0 ? [`and ${more} more: automaton audit --json`] : [])].join('\n')
}
