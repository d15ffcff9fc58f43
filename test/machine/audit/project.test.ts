import { describe, expect, test } from 'bun:test'
import type { Phase } from '../../../src/api/work.ts'
import { type AuditFacts, audit, mentionedFiles } from '../../../src/machine/audit.ts'
import { haltLoop } from '../../../src/machine/loop.ts'
import { at, busyState, makeState, makeTask } from '../builders.ts'
import { loopOf, makeAuditFacts, rulesOf, rulesOn, tracked, walked } from './builders.ts'

describe('claims and loops', () => {
  test('a claim on a task that is gone or complete, or by a complete loop', () => {
    const loops = [loopOf({ state: busyState() })]
    const open = [tracked(makeTask('implement'))]
    expect(rulesOf({ loops })).toEqual(['orphan-claim'])
    expect(rulesOf({ loops, tasks: [tracked(makeTask('complete'))] })).toEqual(['orphan-claim'])
    expect(rulesOf({ loops: [loopOf({ state: busyState({ status: 'complete' }) })], tasks: open })).toEqual([
      'orphan-claim',
    ])
    expect(rulesOf({ loops, tasks: open })).toEqual([])
  })

  test('a claim by a loop that does not exist; a person’s claim is fine', () => {
    const claimed = (claimed_by: string) => [tracked(makeTask('implement', { claimed_by }))]
    expect(rulesOf({ tasks: claimed('loop:gone') })).toEqual(['orphan-claim'])
    expect(rulesOf({ tasks: claimed('human:pat') })).toEqual([])
    expect(rulesOf({ tasks: claimed('loop:nightly'), loops: [loopOf()] })).toEqual([])
  })

  test('a halted loop says why', () => {
    const halt = { id: 'h', reason: 'verifier_failed', detail: 'flat', files: [], at } as const
    expect(audit(makeAuditFacts({ loops: [loopOf({ state: haltLoop(makeState(), halt) })] }))).toMatchObject([
      { rule: 'halted-loop', severity: 'LOW', message: 'loop nightly is halted: verifier_failed (flat)' },
    ])
  })

  test('a schedule that is missing, off or changed, for a running loop that should have one', () => {
    const scheduled = makeState({ schedule: { enabled: true, kind: 'cron' } })
    const withUnit = (installed: boolean, enabled: boolean, drift: string[], state = scheduled) =>
      rulesOf({ loops: [loopOf({ state, unit: { installed, enabled, drift } })] })
    expect(withUnit(true, true, [])).toEqual([])
    expect(withUnit(false, false, [])).toEqual(['schedule-unit'])
    expect(withUnit(true, false, [])).toEqual(['schedule-unit'])
    expect(withUnit(true, true, ['another path'])).toEqual(['schedule-unit'])
    expect(withUnit(false, false, [], { ...scheduled, status: 'paused' })).toEqual([])
    expect(withUnit(false, false, [], makeState())).toEqual([])
  })
})

describe('tasks and designs', () => {
  test('an open task that nobody touched for more than 14 days', () => {
    const stale = (phase: Phase, now: string) =>
      rulesOf({ tasks: [tracked(makeTask(phase))], now: new Date(now) })
    expect(stale('implement', '2026-07-06T10:00:00Z')).toEqual([])
    expect(stale('implement', '2026-07-06T10:00:01Z')).toEqual(['stale-task'])
    expect(stale('complete', '2027-01-01T00:00:00Z')).toEqual([])
  })

  test('a design that is gone, or was never named', () => {
    const named = makeTask('implement', { design_ref: 'design/x.md' })
    expect(rulesOn(named, { hasDesign: false })).toEqual(['missing-design-reference'])
    expect(rulesOn(named, { hasDesign: true })).toEqual([])
    expect(rulesOn(makeTask('implement'))).toEqual([])
    expect(rulesOn(walked(['design', 'decompose'], { 2: { actor: 'human' } }))).toEqual([
      'missing-design-reference',
    ])
  })

  test('a design document that names a file which is not there, each file once', () => {
    const designs = [{ path: 'design/x.md', missing: ['src/a.ts', 'src/a.ts', 'src/b.ts'] }]
    expect(rulesOf({ designs })).toEqual(['design-names-missing-file', 'design-names-missing-file'])
  })

  test('files that a document mentions', () => {
    const text = [
      'See `src/a.ts`, `./src/b.ts:12`, [c](docs/c.md#part) and [web](https://x.test/y.html).',
      'Not `src/`, `*.ts`, `src/<loop>.ts`, `a.ts`, `../x/y.ts`, `npm test`, src/plain.ts, `src/**/z.ts`.',
      'Again `src/a.ts`, `.github/workflows/ci.yml`.',
    ].join('\n')
    expect(mentionedFiles(text)).toEqual(['.github/workflows/ci.yml', 'docs/c.md', 'src/a.ts', 'src/b.ts'])
  })
})

describe('untested sources', () => {
  const untested = (sources: string[], tests: AuditFacts['tests']) =>
    audit(makeAuditFacts({ sources, tests })).map(({ path }) => path)

  test('a test names a source by its file name, with or without the ending', () => {
    const tests = [
      { path: 'test/a.test.ts', text: '' },
      { path: 'tests/test_b.py', text: '' },
      { path: 'test/x.test.ts', text: "import { c } from '../src/c.ts'\nimport d from '../src/deep/d'" },
      { path: 'test/folder.test.ts', text: '' },
    ]
    const sources = ['src/a.ts', 'src/b.py', 'src/c.ts', 'src/deep/d.ts', 'src/folder/index.ts', 'src/e.ts']
    expect(untested(sources, tests)).toEqual(['src/e.ts'])
  })

  test('a word that only contains the name does not count', () => {
    expect(untested(['src/due.ts'], [{ path: 'test/x.test.ts', text: 'overdue residue' }])).toEqual([
      'src/due.ts',
    ])
  })
})
