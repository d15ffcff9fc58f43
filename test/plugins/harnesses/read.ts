import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtinPlugins } from '../../../plugins/index.ts'
import type { SessionEnd, SessionReport } from '../../../src/api/index.ts'
import { createHost } from '../../../src/plugin/host.ts'
import { sessionEnd } from '../../contract/harness.ts'

/** A host with all built-in plugins. */
export const host = createHost({ builtins: [...builtinPlugins], log() {} })

const recorded = join(import.meta.dir, '..', '..', 'fixtures', 'harness')

/** When the recordings of errors "ended". */
export const recordedAt = '2026-11-29T17:40:00.000Z'

/** What a harness makes of these lines; objects are written as JSON. */
export async function read(
  name: string,
  lines: readonly unknown[],
  change: Partial<SessionEnd> = {},
): Promise<SessionReport> {
  const reader = (await host.harness(name)).reader()
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  for (const text of texts) reader.line(text)
  return reader.end(sessionEnd({ stdout: texts.join('\n'), at: recordedAt, ...change }))
}

/** The same for what the real CLI wrote once: `<case>.jsonl`, with `<case>.err` and `<case>.report.json` where there is one. */
export function readRecorded(
  name: string,
  run: string,
  exitCode: number | null,
  change = (lines: string[]) => lines,
): Promise<SessionReport> {
  const file = (end: string) => join(recorded, name, `${run}${end}`)
  const text = (end: string) => (existsSync(file(end)) ? readFileSync(file(end), 'utf8') : null)
  const stdout = readFileSync(file('.jsonl'), 'utf8')
  return read(name, change(stdout.trimEnd().split('\n')), {
    exitCode,
    stderr: text('.err') ?? '',
    report: text('.report.json'),
  })
}
