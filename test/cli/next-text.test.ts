import { describe, expect, test } from 'bun:test'
import { plain } from '../../src/cli/page.ts'
import { doctorText } from '../../src/cli/text/doctor.ts'
import { claimText } from '../../src/cli/text/moves.ts'
import { newPluginText, pluginsText, trustText } from '../../src/cli/text/plugins.ts'
import { tickText } from '../../src/cli/text/tick.ts'
import type { PersonClaimReport } from '../../src/commands/claim.ts'
import type { GateResult } from '../../src/machine/gate.ts'

const page = (width = 80) => ({ width, colors: plain })

test.each<[what: string, report: Partial<PersonClaimReport>, says: string]>([
  ['that somebody had', { claimed_before: 'pat' }, 't: pat no longer has it; it is free for the loops'],
  ['that nobody had', {}, 't: nobody had claimed it; it is free for the loops'],
  ['that a loop works', { loop: 'nightly' }, 't: nobody had claimed it; loop nightly has it'],
  [
    'that is complete',
    { phase: 'complete' },
    't: nobody had claimed it; it is complete, so no loop works it',
  ],
  [
    'that waits for a person',
    { claimed_before: 'pat', phase: 'human_intervention' },
    't: pat no longer has it; it waits for you, so no loop works it\nnext  automaton approve --task t',
  ],
])('releasing a task %s says what is true of it', (_, report, says) => {
  const free = { task: 't', claimed_by: null, claimed_before: null, phase: 'implement', loop: null } as const
  expect(claimText({ ...free, ...report }, page())).toBe(says)
})

describe('a command to type', () => {
  const file = `/home/me/${'deep/'.repeat(14)}one.ts`
  const command = `automaton plugins trust ${file}`
  const narrow = page(60)
  const plugin = { name: 'one', role: 'source', file, files: [], tests: [], replaces: null, problem: null }
  const listed = { name: 'one', role: 'source' as const, origin: file, trusted: false, replaces: null }
  const tick = { loop: 'n', recovered: null, warnings: [], outcome: 'refused' as const, halt: null }
  const gate: GateResult = {
    ok: false,
    reason: 'refused:config',
    halt_reason: null,
    remaining_iterations: 1,
    remaining_budget_usd: null,
    task_phase: null,
    task_in_halt_loop: false,
    out_of_scope_files: [],
    detail: 'it changed',
    fix: command,
    effect: 'none',
  }
  test.each<[where: string, text: () => string]>([
    [
      'doctor',
      () =>
        doctorText({ ok: false, findings: [{ what: 'x', level: 'bad', detail: 'y', fix: command }] }, narrow),
    ],
    ['plugins trust', () => trustText({ ...plugin, next: command }, narrow)],
    [
      'plugins new',
      () =>
        newPluginText({ ...plugin, role: 'source', test: file, declarations: file, next: [command] }, narrow),
    ],
    [
      'plugins',
      () =>
        pluginsText(
          { plugins: [{ ...listed, replacedBy: null, problem: { message: 'it changed', fix: command } }] },
          narrow,
        ),
    ],
    ['tick', () => tickText({ report: { ...tick, gate }, merge: null, waiting: [] }, narrow)],
  ])('stays on one line in what %s says', (_, text) => {
    expect(
      text()
        .split('\n')
        .filter((line) => line.includes(command)),
    ).toHaveLength(1)
  })
})
