import { describe, expect, test } from 'bun:test'
import { type Phase, phases } from '../../src/api/work.ts'
import {
  applyTransition,
  checkApproval,
  checkTransition,
  keptPhases,
  type Transition,
} from '../../src/machine/phases.ts'
import { at, later, makeTask } from './builders.ts'

const all = keptPhases(null)

const nobody = { session: null, model: null, modelCount: 0 }

function check(phase: Phase, to: Phase, changes: Partial<Transition> = {}) {
  const base = {
    task: makeTask(phase),
    to,
    actor: 'loop:nightly',
    artifact: 'text',
    kept: all,
    reviewer: nobody,
  }
  return checkTransition({ ...base, reason: '', ...changes })
}

function ruleOf(phase: Phase, to: Phase, changes: Partial<Transition> = {}): string {
  const result = check(phase, to, changes)
  return result.ok ? 'ok' : result.rule
}

describe('transition', () => {
  test('each edge of the table is allowed, and every other pair is refused', () => {
    const artifacts: Partial<Record<Phase, Record<string, string>>> = {
      code_review: { bug_hunt: 'Verdict: PASS', implement: 'Verdict: CHANGES' },
      bug_hunt: { adversarial_review: 'Verdict: CLEAN', implement: 'Verdict: BUGS' },
      referee: { complete: 'Verdict: APPROVED', implement: 'Verdict: FIX' },
    }
    const allowed = phases.flatMap((from) =>
      phases
        .filter((to) => {
          const artifact = artifacts[from]?.[to] ?? '# Scope\n# Criteria'
          return check(from, to, { artifact, actor: 'human', reason: 'why' }).ok
        })
        .map((to) => `${from} ${to}`),
    )
    expect(allowed).toEqual([
      'design human_intervention',
      'decompose design',
      'decompose implement',
      'decompose human_intervention',
      'implement code_review',
      'implement human_intervention',
      'code_review implement',
      'code_review bug_hunt',
      'code_review human_intervention',
      'bug_hunt implement',
      'bug_hunt adversarial_review',
      'bug_hunt human_intervention',
      'adversarial_review referee',
      'adversarial_review human_intervention',
      'referee implement',
      'referee complete',
      'referee human_intervention',
    ])
  })

  test('the rule that is broken is named, with what to do', () => {
    expect(check('implement', 'referee')).toEqual({
      ok: false,
      rule: 'edge',
      why: 'implement does not lead to referee',
      fix: 'the way forward is code_review',
    })
  })

  test('a missing, empty or blank artifact is refused', () => {
    for (const artifact of [null, '', ' \n']) {
      expect(ruleOf('implement', 'code_review', { artifact })).toBe('artifact')
    }
  })

  test('a verdict line that is missing or contradicts the edge is refused', () => {
    expect(ruleOf('code_review', 'bug_hunt', { artifact: 'fine' })).toBe('verdict')
    expect(ruleOf('code_review', 'bug_hunt', { artifact: 'Verdict: CHANGES' })).toBe('verdict')
    expect(ruleOf('code_review', 'implement', { artifact: 'Verdict: PASS' })).toBe('verdict')
    expect(ruleOf('referee', 'complete', { artifact: 'Verdict: BLOCKED' })).toBe('verdict')
    expect(check('code_review', 'bug_hunt', { artifact: 'Verdict: CHANGES' })).toMatchObject({
      why: 'CODE_REVIEW.md says CHANGES, which leads to implement, not to bug_hunt',
      fix: 'automaton transition fix-login implement',
    })
  })

  test('a person is called only with a reason', () => {
    expect(ruleOf('implement', 'human_intervention')).toBe('reason')
    expect(ruleOf('implement', 'human_intervention', { reason: ' ' })).toBe('reason')
    expect(ruleOf('implement', 'human_intervention', { reason: 'stuck', artifact: null })).toBe('ok')
  })

  test('only an approval leaves design and human_intervention, and nothing leaves complete', () => {
    expect(ruleOf('design', 'decompose', { actor: 'human' })).toBe('approval')
    expect(ruleOf('human_intervention', 'implement', { actor: 'human' })).toBe('approval')
    expect(ruleOf('complete', 'human_intervention', { reason: 'x' })).toBe('terminal')
  })

  test('a task that another has claimed is refused; a person may move it', () => {
    const task = makeTask('implement', { claimed_by: 'agent:7' })
    expect(ruleOf('implement', 'code_review', { task })).toBe('claim')
    expect(ruleOf('implement', 'code_review', { task, actor: 'agent' })).toBe('ok')
    expect(ruleOf('implement', 'code_review', { task, actor: 'human' })).toBe('ok')
    expect(ruleOf('implement', 'code_review', { actor: 'agent', owner: 'nightly' })).toBe('claim')
    expect(ruleOf('implement', 'code_review', { owner: 'nightly' })).toBe('ok')
    expect(ruleOf('implement', 'code_review', { owner: 'other' })).toBe('claim')
  })

  test('a loop does not work decompose', () => {
    expect(ruleOf('decompose', 'implement', { artifact: '# Scope\n# Criteria' })).toBe('who')
  })

  test('TASK.md needs scope and criteria, in its text or in the state', () => {
    const edge = { actor: 'agent', artifact: 'Do it.' }
    expect(ruleOf('decompose', 'implement', edge)).toBe('artifact')
    expect(ruleOf('decompose', 'implement', { ...edge, artifact: '## Scope\nsrc' })).toBe('artifact')
    const task = makeTask('decompose', { scope: ['src/'], acceptance_criteria: ['works'] })
    expect(ruleOf('decompose', 'implement', { ...edge, task })).toBe('ok')
  })

  test('the session that implemented does not review, in an earlier round either', () => {
    const task = makeTask('code_review', { sessions: { implement: 's1' } })
    const artifact = 'Verdict: PASS'
    const by = (session: string) => ({ task, artifact, reviewer: { ...nobody, session } })
    expect(ruleOf('code_review', 'bug_hunt', by('s1'))).toBe('session_conflict')
    expect(ruleOf('code_review', 'bug_hunt', by('s2'))).toBe('ok')
    const step = { seq: 2, at, from: 'implement', to: 'code_review', actor: 'agent', session: 's0' } as const
    const older = { ...task, history: [{ ...step, model: null, note: '' }] }
    expect(ruleOf('code_review', 'bug_hunt', { ...by('s0'), task: older })).toBe('session_conflict')
  })

  test('with two models the one that implemented does not review; with one it may', () => {
    const task = makeTask('bug_hunt', { models: { implement: 'a' } })
    const by = (model: string | null, modelCount: number) => ({
      task,
      artifact: 'Verdict: BUGS',
      reviewer: { session: 's', model, modelCount },
    })
    expect(ruleOf('bug_hunt', 'implement', by('a', 2))).toBe('model_conflict')
    expect(ruleOf('bug_hunt', 'implement', by('b', 2))).toBe('ok')
    expect(ruleOf('bug_hunt', 'implement', by('a', 1))).toBe('ok')
    expect(ruleOf('bug_hunt', 'implement', by(null, 2))).toBe('ok')
  })
})

describe('approval of a task', () => {
  const approve = (phase: Phase, to: Phase | null, changes = {}) =>
    checkApproval({ task: makeTask(phase, changes), to, kept: all })

  test('human_intervention is left for the phase before, or for the one named', () => {
    expect(approve('human_intervention', null, { previous_phase: 'referee' })).toEqual({
      ok: true,
      to: 'referee',
    })
    expect(approve('human_intervention', 'implement', { previous_phase: 'referee' })).toEqual({
      ok: true,
      to: 'implement',
    })
    expect(approve('human_intervention', null)).toEqual({ ok: true, to: 'implement' })
  })

  test('the phase before may no longer be kept: then the next kept one is meant', () => {
    const kept = keptPhases(['implement', 'referee'])
    const task = makeTask('human_intervention', { previous_phase: 'bug_hunt' })
    expect(checkApproval({ task, to: null, kept })).toEqual({ ok: true, to: 'referee' })
    expect(checkApproval({ task, to: 'bug_hunt', kept })).toMatchObject({ ok: false, rule: 'edge' })
  })

  test('human_intervention does not lead to itself', () => {
    expect(approve('human_intervention', 'human_intervention')).toMatchObject({ ok: false, rule: 'edge' })
  })

  test('design needs a design reference and leads to decompose', () => {
    expect(approve('design', null)).toMatchObject({ ok: false, rule: 'artifact' })
    expect(approve('design', null, { design_ref: 'design/x.md' })).toEqual({ ok: true, to: 'decompose' })
    expect(approve('design', 'referee', { design_ref: 'design/x.md' })).toMatchObject({
      ok: false,
      rule: 'edge',
    })
  })

  test('other phases need no approval', () => {
    expect(approve('implement', null)).toMatchObject({ ok: false, rule: 'approval' })
    expect(approve('complete', 'implement')).toMatchObject({ ok: false, rule: 'approval' })
  })
})

describe('after a transition', () => {
  const step = {
    to: 'code_review' as Phase,
    actor: 'loop:nightly',
    at: later,
    session: 's1',
    model: 'a',
    note: 'ready',
    blocked: null,
  }

  test('the history has one more entry and the session is noted under the phase that was left', () => {
    const task = makeTask('implement')
    const next = applyTransition(task, step)
    expect(next).toEqual({
      ...task,
      phase: 'code_review',
      previous_phase: 'implement',
      sessions: { implement: 's1' },
      models: { implement: 'a' },
      history: [
        ...task.history,
        {
          seq: 2,
          at: later,
          from: 'implement',
          to: 'code_review',
          actor: 'loop:nightly',
          session: 's1',
          model: 'a',
          note: 'ready',
        },
      ],
      updated_at: later,
    })
    expect(task.history).toHaveLength(1)
  })

  test('the reason for calling a person is kept, and goes when the task goes on', () => {
    const blocked = applyTransition(makeTask('referee'), {
      ...step,
      to: 'human_intervention',
      blocked: 'no access',
    })
    expect(blocked).toMatchObject({ blocked_reason: 'no access', previous_phase: 'referee' })
    expect(applyTransition(blocked, { ...step, to: 'referee' }).blocked_reason).toBeNull()
    expect(applyTransition(makeTask('referee'), { ...step, to: 'human_intervention' }).blocked_reason).toBe(
      'ready',
    )
  })

  test('a complete task is claimed by nobody', () => {
    const task = makeTask('referee', { claimed_by: 'human:pat' })
    expect(applyTransition(task, { ...step, to: 'complete' }).claimed_by).toBeNull()
    expect(applyTransition(task, step).claimed_by).toBe('human:pat')
  })
})
