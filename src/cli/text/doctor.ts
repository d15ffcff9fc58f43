import type { DoctorReport } from '../../commands/doctor.ts'
import { advice } from '../advice.ts'
import { pad, widthOf, wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'

/** Every finding with its fix. */
export function doctorText(raw: DoctorReport, { width, colors }: Page): string {
  const { ok, findings } = safe(raw)
  const marks = { good: colors.green('ok  '), hint: colors.yellow('hint'), bad: colors.red('bad ') }
  const left = Math.min(20, Math.max(...findings.map(({ what }) => widthOf(what)))) + 2
  const lines = findings.flatMap(({ what, level, detail, fix }) => {
    const room = width - left - 6
    const [first = '', ...rest] = wrap(detail, room)
    const head =
      widthOf(what) + 2 > left ? [`${marks[level]}  ${what}`, `${' '.repeat(left + 6)}${first}`] : null
    const margin = ' '.repeat(left + 6)
    return [
      ...(head ?? [`${marks[level]}  ${pad(what, left)}${first}`]),
      ...rest.map((line) => margin + line),
      ...(fix ? advice(`${margin}fix: `, fix, width).map(colors.bold) : []),
    ]
  })
  return [...lines, '', ok ? 'nothing needs doing' : 'something needs doing'].join('\n')
}
