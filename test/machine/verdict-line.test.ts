import { describe, expect, test } from 'bun:test'
import type { Phase } from '../../src/api/work.ts'
import { edgeByVerdict, keptPhases, readVerdictLine } from '../../src/machine/phases.ts'

const all = keptPhases(null)

describe('the verdict line', () => {
  test.each([
    ['Verdict: PASS', 'PASS'],
    ['verdict: pass', 'PASS'],
    ['**Verdict:** PASS', 'PASS'],
    ['**Verdict: PASS**', 'PASS'],
    ['- Verdict: `CHANGES`', 'CHANGES'],
    ['## Verdict: CHANGES', 'CHANGES'],
    ['> * __Verdict__: PASS.', 'PASS'],
    ['1. Verdict: PASS', 'PASS'],
    ['| Verdict: PASS |', 'PASS'],
    ['Final verdict: ✅ PASS, well done', 'PASS'],
    ['Verdict : PASS', 'PASS'],
    ['text\r\nVerdict: PASS\r\n', 'PASS'],
    ['Verdict: CHANGES\nmore\nVerdict: PASS', 'PASS'],
    ['Verdict: PASS\n\nVerdict: CHANGES (see above)', 'CHANGES'],
    ['Verdict: PASS or CHANGES', null],
    ['Verdict: PASS | CHANGES', null],
    ['Verdict: PASS/CHANGES', null],
    ['Verdict: PASS\nVerdict: not PASS', null],
    ['Verdict: PASSED', null],
    ['Verdict: CLEAN', null],
    ['Verdict:', null],
    ['The verdict: PASS', null],
    ['PASS', null],
    ['', null],
  ])('%j is %p', (text, word) => {
    expect(readVerdictLine('code_review', text)).toBe(word)
  })

  test('a phase has its own words', () => {
    expect(readVerdictLine('bug_hunt', 'Verdict: BUGS')).toBe('BUGS')
    expect(readVerdictLine('referee', 'Verdict: APPROVED')).toBe('APPROVED')
    expect(readVerdictLine('implement', 'Verdict: PASS')).toBeNull()
  })

  test.each<[Phase, string, Phase | null]>([
    ['implement', 'done', 'code_review'],
    ['code_review', 'Verdict: PASS', 'bug_hunt'],
    ['code_review', 'Verdict: CHANGES', 'implement'],
    ['code_review', 'fine', null],
    ['bug_hunt', 'Verdict: CLEAN', 'adversarial_review'],
    ['bug_hunt', 'Verdict: BUGS', 'implement'],
    ['adversarial_review', 'found none', 'referee'],
    ['referee', 'Verdict: APPROVED', 'complete'],
    ['referee', 'Verdict: FIX', 'implement'],
    ['referee', 'Verdict: BLOCKED', 'human_intervention'],
    ['complete', 'x', null],
  ])('by rules, %s with %j leads to %p', (phase, artifact, to) => {
    expect(edgeByVerdict({ phase, artifact, kept: all })).toBe(to)
  })

  test('a way back to a phase that is not kept leads nowhere', () => {
    const kept = keptPhases(['code_review'])
    expect(edgeByVerdict({ phase: 'code_review', artifact: 'Verdict: CHANGES', kept })).toBeNull()
  })
})
