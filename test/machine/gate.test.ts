import { describe, expect, test } from 'bun:test'
import { checkGate, type GateFacts } from '../../src/machine/gate.ts'
import { haltLoop } from '../../src/machine/loop.ts'
import { busyState, later, makeBrakes, makeConfig, makeContext, makeFacts, makeState } from './builders.ts'

const gate = (changes: Partial<GateFacts> = {}) => checkGate(makeFacts(changes))

const flat = { score_history: [0.4, 0.4, 0.4], fail_streak: 3 }
const sameModels = { count: 2, implement: 'a', verify: 'a' }
const shortContext = [makeContext({ effective: 14_796 })]
const refusal = { kind: 'no_git' as const, why: 'no repository', fix: 'git init' }

/** Everything that could be wrong, at once. */
function worst(): GateFacts {
  const brakes = makeBrakes({ max_iterations: 2, max_budget_usd: 1 })
  return makeFacts({
    state: busyState({ iteration_count: 2, cost: { usd: 1, tokens: 0, reported: true }, ...flat }),
    config: makeConfig({ brakes }),
    refusal,
    contexts: shortContext,
    task: { phase: 'human_intervention' },
    tamper: 'loop.json',
    outOfScope: ['other.ts'],
    models: sameModels,
  })
}

test('a loop with nothing wrong may tick', () => {
  expect(gate()).toEqual({
    ok: true,
    reason: 'ok',
    halt_reason: null,
    remaining_iterations: 20,
    remaining_budget_usd: null,
    task_phase: 'implement',
    task_in_halt_loop: false,
    out_of_scope_files: [],
    detail: '',
    fix: '',
    effect: 'none',
  })
})

test('a loop that has no task yet may tick', () => {
  expect(gate({ state: makeState(), task: null })).toMatchObject({ ok: true, task_phase: null })
})

test('the checks come in the order of the contract, and the first that fails decides', () => {
  const facts = worst()
  const brakes = makeBrakes()
  const steps: [string, Partial<GateFacts>][] = [
    ['refused:no_git', { refusal: null }],
    [
      'halted:iterations_exhausted',
      { state: { ...busyState(flat), cost: { usd: 1, tokens: 0, reported: true } } },
    ],
    ['halted:budget_exhausted', { config: makeConfig({ brakes }) }],
    ['refused:context_floor', { contexts: [] }],
    ['halted:human_intervention', { task: { phase: 'implement' } }],
    ['halted:drift_detected', { tamper: null }],
    ['halted:drift_detected', { outOfScope: [] }],
    ['halted:verifier_failed', { state: busyState() }],
    ['halted:human_intervention', { models: { count: 2, implement: 'a', verify: 'b' } }],
  ]
  const seen: string[] = []
  for (const [, repair] of steps) {
    seen.push(checkGate(facts).reason)
    Object.assign(facts, repair)
  }
  expect(seen).toEqual(steps.map(([reason]) => reason))
  expect(checkGate(facts).reason).toBe('ok')
})

describe('what is stored comes first', () => {
  test.each(['paused', 'complete'] as const)(
    'a %s loop is reported as such, whatever else is wrong',
    (status) => {
      const answer = checkGate({ ...worst(), state: busyState({ status }) })
      expect(answer).toMatchObject({ ok: false, reason: status, halt_reason: null, effect: 'none' })
    },
  )

  test('a halted loop names its stored halt, its files and the approval that it needs', () => {
    const halt = {
      id: 'h7',
      reason: 'drift_detected',
      detail: '1 file out of scope',
      files: ['a'],
      at: later,
    } as const
    expect(gate({ state: haltLoop(busyState(), halt), refusal, task: null })).toMatchObject({
      ok: false,
      reason: 'halted:drift_detected',
      halt_reason: 'drift_detected',
      task_phase: 'implement',
      task_in_halt_loop: true,
      out_of_scope_files: ['a'],
      detail: '1 file out of scope',
      fix: 'automaton approve --loop nightly --halt h7',
      effect: 'none',
    })
  })

  test('a halted loop without a task says so', () => {
    const halt = { id: 'h', reason: 'human_intervention', detail: '', files: [], at: later } as const
    expect(gate({ state: haltLoop(makeState(), halt), task: null }).task_in_halt_loop).toBe(false)
  })

  test('a loop without state is untracked, and never a fresh one', () => {
    expect(gate({ state: null, task: null })).toMatchObject({
      ok: false,
      reason: 'untracked',
      effect: 'none',
    })
  })
})

describe('refusals', () => {
  test.each(['config', 'no_git', 'no_base_branch', 'harness', 'sandbox'] as const)(
    '%s halts nothing',
    (kind) => {
      expect(gate({ refusal: { kind, why: 'why', fix: 'do this' } })).toMatchObject({
        ok: false,
        reason: `refused:${kind}`,
        halt_reason: null,
        task_in_halt_loop: false,
        detail: 'why',
        fix: 'do this',
        effect: 'none',
      })
    },
  )

  test('a loop without a configuration is refused, with every key there', () => {
    expect(gate({ config: null })).toMatchObject({
      reason: 'refused:config',
      remaining_iterations: 0,
      remaining_budget_usd: null,
    })
  })

  test.each([15_999, 0, Number.NaN])('a context of %p tokens is refused before any session', (effective) => {
    expect(gate({ contexts: [makeContext({ effective })] })).toMatchObject({
      ok: false,
      reason: 'refused:context_floor',
      halt_reason: null,
      effect: 'none',
      detail: expect.stringContaining('context window below 16k floor'),
    })
  })

  test('16,000 tokens are enough', () => {
    expect(gate({ contexts: [makeContext({ tier: 16_000 })] }).ok).toBe(true)
  })

  test('what is too small is repaired where it was decided', () => {
    const fix = (context: ReturnType<typeof makeContext>) => gate({ contexts: [context] }).fix
    expect(fix(makeContext({ tier: 8000 }))).toBe('set roles.verify.tier in loop.json to 16000 or more')
    const short = makeContext({ effective: 14_796 })
    expect(fix(short)).toBe(
      'set backend: remote in config.md, if the model runs elsewhere; else context_override.verify: 16000 or more in config.md, if the model can hold that',
    )
    const both = gate({ contexts: [short, { ...short, role: 'implement' }] })
    expect(both.fix).toEndWith(
      'else context_override: 16000 or more in config.md, if the model can hold that',
    )
    expect(fix({ ...short, source: 'override' })).toStartWith('raise context_override in config.md')
    expect(fix({ ...short, source: 'server' })).toStartWith('load the model with a context of 16000 or more')
  })

  test('the refusal says of each short role how much there is, and who said so', () => {
    expect(gate({ contexts: shortContext }).detail).toBe(
      'context window below 16k floor (verify: 14796 tokens of tier 32000, by nvidia-smi)',
    )
  })
})

describe('brakes', () => {
  test('a cap that is reached halts, and is to be written down', () => {
    const config = makeConfig({ brakes: makeBrakes({ max_iterations: 2 }) })
    expect(gate({ state: busyState({ iteration_count: 2 }), config })).toMatchObject({
      ok: false,
      reason: 'halted:iterations_exhausted',
      halt_reason: 'iterations_exhausted',
      remaining_iterations: 0,
      task_in_halt_loop: true,
      effect: 'halt',
      fix: 'automaton approve --loop nightly',
    })
  })

  test('an unknown cost under a money cap halts with its own detail and fix', () => {
    const config = makeConfig({ brakes: makeBrakes({ max_budget_usd: 5 }) })
    const state = busyState({ cost: { usd: 1, tokens: 0, reported: false } })
    expect(gate({ state, config })).toMatchObject({
      reason: 'halted:budget_exhausted',
      detail: 'budget_unknown',
      remaining_budget_usd: 4,
      fix: expect.stringContaining('unknown_cost'),
    })
  })

  test('passes with flat scores do not halt', () => {
    expect(gate({ state: busyState({ score_history: [1, 1, 1], fail_streak: 0 }) }).ok).toBe(true)
  })
})

describe('the task', () => {
  test('one that waits for a person halts the loop', () => {
    expect(gate({ task: { phase: 'human_intervention' } })).toMatchObject({
      reason: 'halted:human_intervention',
      effect: 'halt',
      fix: 'automaton approve --task fix-login, then: automaton approve --loop nightly',
    })
  })

  test('one in a phase that the loop may not work is drift', () => {
    expect(gate({ task: { phase: 'referee' }, allowedPhases: ['implement'] })).toMatchObject({
      reason: 'halted:drift_detected',
      detail: 'task:referee',
      task_phase: 'referee',
      out_of_scope_files: [],
      effect: 'halt',
    })
  })

  test('one that is complete is let go, and the loop goes on', () => {
    expect(gate({ task: { phase: 'complete' } })).toMatchObject({ ok: true, reason: 'ok', effect: 'release' })
  })

  test('one that is complete completes a single loop', () => {
    const work_source = { kind: 'single', area: null, task: 'fix-login', phases: null, options: {} }
    expect(gate({ task: { phase: 'complete' }, config: makeConfig({ work_source }) })).toMatchObject({
      ok: false,
      reason: 'complete',
      halt_reason: null,
      effect: 'complete',
    })
  })

  test('the checks after it still count for one that is complete', () => {
    expect(gate({ task: { phase: 'complete' }, outOfScope: ['x'] })).toMatchObject({
      reason: 'halted:drift_detected',
      effect: 'halt',
    })
  })

  test('one that no longer exists is let go', () => {
    expect(gate({ task: 'missing' })).toMatchObject({ ok: true, task_phase: null, effect: 'release' })
  })
})

describe('drift', () => {
  test('files out of scope are named', () => {
    expect(gate({ outOfScope: ['a.ts', 'b.ts'] })).toMatchObject({
      reason: 'halted:drift_detected',
      out_of_scope_files: ['a.ts', 'b.ts'],
      detail: '2 files out of scope',
    })
  })

  test.each(['loop.json', 'tamper:loop.json'])('tampering with %s is drift with its own detail', (tamper) => {
    expect(gate({ tamper })).toMatchObject({ reason: 'halted:drift_detected', detail: 'tamper:loop.json' })
  })
})

describe('model divergence', () => {
  const models = (count: number, implement: string | null, verify: string | null) =>
    gate({ models: { count, implement, verify } })

  test('two models, and both roles run the same: the loop halts', () => {
    expect(models(2, 'a', 'a')).toMatchObject({
      reason: 'halted:human_intervention',
      detail: 'model_divergence',
      fix: expect.stringContaining('roles.implement.model'),
    })
    expect(models(3, null, null).reason).toBe('halted:human_intervention')
  })

  test.each([
    [0, null, null],
    [1, 'a', 'a'],
    [2, 'a', 'b'],
    [2, 'a', null],
  ] as const)('%p models, %p and %p: the loop goes on', (count, implement, verify) => {
    expect(models(count, implement, verify).ok).toBe(true)
  })

  test('a user who wants the same model for both may have it', () => {
    const roles = { ...makeConfig().roles, allow_same_model: true }
    expect(gate({ models: sameModels, config: makeConfig({ roles }) }).ok).toBe(true)
  })
})

test('what remains is told on every answer', () => {
  const config = makeConfig({ brakes: makeBrakes({ max_iterations: 5, max_budget_usd: 3 }) })
  const state = busyState({
    iteration_count: 4,
    iteration_base: 1,
    cost: { usd: 1, tokens: 0, reported: true },
  })
  const answers = [
    gate({ config, state }),
    gate({ config, state, refusal }),
    gate({ config, state: { ...state, status: 'paused' } }),
    gate({ config, state, tamper: 'head' }),
  ]
  for (const answer of answers) {
    expect(answer).toMatchObject({ remaining_iterations: 2, remaining_budget_usd: 2 })
  }
})
