import type { ScopeReport } from '../../commands/scope-check.ts'
import { wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'

/** Changed files, those outside of the scope marked. */
export function scopeCheckText(raw: ScopeReport, { width, colors }: Page): string {
  const { task, scope, loop, changed, outside } = safe(raw)
  const where = loop ? `the worktree of loop ${loop}` : 'the checkout'
  const bad = new Set(outside)
  const names = [...new Set([...changed, ...outside])].sort()
  const head = wrap(
    `${task}: ${names.length} changed in ${where}; scope ${scope.join(', ') || 'everything'}`,
    width,
  )
  const lines = names.map((name) => (bad.has(name) ? colors.red(`outside  ${name}`) : `         ${name}`))
  return [...head, ...lines].join('\n')
}
