import type { InstallReport } from '../../commands/install-schedule.ts'
import type { UninstallReport } from '../../commands/uninstall-schedule.ts'
import { field, hang, wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { nextLines } from './next.ts'
import { duration } from './time.ts'

/** The schedule that a loop has now. */
export function installText(raw: InstallReport, page: Page): string {
  const { loop, scheduler, interval_seconds, script, enabled, changed, warnings } = safe(raw)
  const { width, colors } = page
  const off = 'off while the loop does not run; approve or resume-loop switches it on'
  return [
    ...wrap(`${scheduler} ticks ${colors.bold(loop)} every ${duration(interval_seconds)}`, width),
    ...field('script', script, width),
    ...field('wrote', changed.join(', ') || 'nothing: all of it was there already', width),
    ...field('now', enabled ? null : off, width),
    ...warnings.flatMap((warning) => hang('warning: ', warning, width).map(colors.yellow)),
    '',
    ...nextLines(['automaton doctor --as-scheduler', `automaton status ${loop}`], page),
  ].join('\n')
}

/** What was taken away. */
export function uninstallText(raw: UninstallReport, page: Page): string {
  const { loop, removed, warnings } = safe(raw)
  if (removed.length === 0 && warnings.length === 0)
    return wrap(`${loop} had no schedule`, page.width).join('\n')
  const text = `${loop} has no schedule now; removed ${removed.join(', ') || 'nothing'}`
  const left = warnings.flatMap((warning) => hang('warning: ', warning, page.width).map(page.colors.yellow))
  return [...wrap(text, page.width), ...left, ...nextLines([`automaton tick ${loop}`], page)].join('\n')
}
