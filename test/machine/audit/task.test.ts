import { describe, expect, test } from 'bun:test'
import type { Phase } from '../../../src/api/work.ts'
import { audit } from '../../../src/machine/audit.ts'
import { keptPhases } from '../../../src/machine/phases.ts'
import { makeTask } from '../builders.ts'
import { loopOf, makeAuditFacts, rulesOf, rulesOn, tracked, walked } from './builders.ts'

describe('state', () => {
  test('state that cannot be read is critical, for tasks and for loops', () => {
    const problem = 'not JSON'
    const found = audit(
      makeAuditFacts({
        tasks: [tracked(makeTask('implement'), { state: null, problem })],
        loops: [loopOf({ state: null, problem })],
      }),
    )
    expect(found).toHaveLength(2)
    expect(found.every(({ rule, severity }) => rule === 'unreadable-state' && severity === 'CRITICAL')).toBe(
      true,
    )
    expect(found.map(({ path }) => path).sort()).toEqual([
      '.automaton/loops/nightly/.state.loop',
      '.automaton/tasks/fix-login/.state',
    ])
  })

  test('a folder without state is named', () => {
    const untracked = [{ task: 'lost', path: '.automaton/tasks/lost' }]
    expect(audit(makeAuditFacts({ untracked }))).toMatchObject([
      { rule: 'untracked-task', severity: 'HIGH', task: 'lost', path: '.automaton/tasks/lost' },
    ])
  })

  test('a phase that is not where the history ends', () => {
    expect(rulesOn({ ...walked(['implement', 'code_review']), phase: 'referee' })).toEqual([
      'phase-history-mismatch',
    ])
    expect(rulesOn({ ...makeTask('implement'), history: [] })).toEqual(['phase-history-mismatch'])
  })
})

describe('history', () => {
  test.each<[Phase[], boolean]>([
    [['implement', 'code_review', 'implement', 'code_review', 'bug_hunt'], true],
    [['implement', 'code_review', 'bug_hunt', 'adversarial_review', 'referee', 'complete'], true],
    [['implement', 'human_intervention'], true],
    [['decompose', 'implement'], true],
    [['decompose', 'design'], true],
    [['implement', 'bug_hunt'], false],
    [['implement', 'complete'], false],
    [['referee', 'complete', 'implement'], false],
    [['design', 'decompose'], false],
    [['implement', 'human_intervention', 'implement'], false],
    [['implement', 'implement'], false],
  ])('a loop that walks %j: %p', (path, isLegal) => {
    expect(rulesOn(walked(path)).includes('illegal-history-edge')).toBe(!isLegal)
  })

  test('a person leaves design and human_intervention', () => {
    const human = { actor: 'human' }
    const state = walked(['design', 'decompose', 'human_intervention', 'implement'], { 2: human, 4: human })
    expect(rulesOn({ ...state, design_ref: 'design/x.md' }, { hasDesign: true })).toEqual([])
  })

  test('a project that keeps fewer phases skips the others', () => {
    const tasks = [tracked(walked(['implement', 'referee']))]
    expect(rulesOf({ tasks, kept: keptPhases(['implement', 'referee']) })).toEqual([])
    expect(rulesOf({ tasks })).toEqual(['illegal-history-edge'])
  })

  test('a gap, a wrong start and a jump are found', () => {
    expect(rulesOn(walked(['implement', 'code_review'], { 2: { seq: 5 } }))).toEqual(['illegal-history-edge'])
    expect(rulesOn(walked(['implement'], { 1: { from: 'decompose' } }))).toContain('illegal-history-edge')
    expect(rulesOn(walked(['implement', 'referee'], { 2: { from: 'adversarial_review' } }))).toEqual([
      'illegal-history-edge',
    ])
  })
})

describe('artifacts', () => {
  test('a phase that was left without its artifact', () => {
    const found = audit(
      makeAuditFacts({
        tasks: [tracked(walked(['implement', 'code_review', 'bug_hunt']), { files: ['TASK.md'] })],
      }),
    )
    expect(found.map(({ rule, message }) => `${rule} ${message}`).sort()).toEqual([
      'missing-artifact fix-login: code_review was left, but CODE_REVIEW.md is missing or empty',
      'missing-artifact fix-login: implement was left, but IMPLEMENTATION.md is missing or empty',
    ])
  })

  test('a phase that was left to call a person needs none', () => {
    expect(rulesOn(walked(['implement', 'human_intervention']), { files: [] })).toEqual([])
  })

  test('a review that was left another way than it says', () => {
    const forward = walked(['implement', 'code_review', 'bug_hunt'])
    expect(rulesOn(forward, { verdicts: { code_review: 'PASS' } })).toEqual([])
    expect(rulesOn(forward, { verdicts: { code_review: 'CHANGES' } })).toEqual(['verdict-mismatch'])
    expect(rulesOn(forward, { verdicts: { code_review: null } })).toEqual(['verdict-mismatch'])
    const back = walked(['implement', 'code_review', 'implement'])
    expect(rulesOn(back, { verdicts: { code_review: 'CHANGES' } })).toEqual([])
    expect(rulesOn(back, { verdicts: { code_review: 'PASS' } })).toEqual(['verdict-mismatch'])
    const blocked = walked(['referee', 'complete'])
    expect(rulesOn(blocked, { verdicts: { referee: 'BLOCKED' } })).toEqual(['verdict-mismatch'])
  })

  test('a newer artifact of the phase that the task is in again is not held against it', () => {
    const again = walked(['code_review', 'implement', 'code_review'])
    expect(rulesOn(again, { verdicts: { code_review: 'PASS' } })).toEqual([])
  })
})

describe('conflicts', () => {
  const path: Phase[] = ['implement', 'code_review', 'bug_hunt']

  test('a review by the session that implemented', () => {
    expect(rulesOn(walked(path, { 2: { session: 'x' }, 3: { session: 'x' } }))).toEqual(['session-conflict'])
  })

  test('a review by the model that implemented, where there is another', () => {
    const tasks = [tracked(walked(path, { 2: { model: 'a' }, 3: { model: 'a' } }))]
    expect(rulesOf({ tasks, modelCount: 2 })).toEqual(['model-conflict'])
    expect(rulesOf({ tasks, modelCount: 1 })).toEqual([])
    const two = [tracked(walked(path, { 2: { model: 'a' }, 3: { model: 'b' } }))]
    expect(rulesOf({ tasks: two, modelCount: 2 })).toEqual([])
  })
})
