import type { SelfReport } from '../../commands/self-check.ts'
import { pad, widthOf, wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'

/** What this program could do here, each with how long it took. */
export function selfCheckText(raw: SelfReport, { width, colors }: Page): string {
  const { ok, version, system, checks, seconds } = safe(raw)
  const left = Math.max(...checks.map(({ what }) => widthOf(what))) + 2
  const lines = checks.flatMap(({ what, ok: good, why, seconds: took }) => {
    const mark = good ? colors.green('ok  ') : colors.red('not ')
    const [first = '', ...rest] = wrap(why, width - left - 16)
    const margin = ' '.repeat(left + 16)
    return [
      `${mark}  ${pad(what, left)}${`${took.toFixed(2)} s`.padEnd(10)}${first}`,
      ...rest.map((line) => margin + line),
    ]
  })
  const end = ok ? 'this program works here' : 'this program does not work here as it should'
  return [`automaton ${version}, ${system}`, '', ...lines, '', `${end} (${seconds.toFixed(1)} s)`].join('\n')
}
