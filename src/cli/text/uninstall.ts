import type { UninstallReport } from '../../commands/uninstall.ts'
import { hang } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'

/** What is gone, and what is left to a person. */
export function uninstallText(raw: UninstallReport, { width }: Page): string {
  const { unscheduled, removed, left } = safe(raw)
  const gone = [
    ...unscheduled.map(({ loop, project }) => `the schedule of ${loop} in ${project}`),
    ...removed,
  ]
  return [
    ...(gone.length > 0
      ? gone.flatMap((what) => hang('gone  ', what, width))
      : ['there was nothing to take away']),
    ...left.flatMap((what) => hang('left  ', what, width)),
  ].join('\n')
}
