import { describe, expect, test } from 'bun:test'
import type { Death } from '../../src/api/hooks.ts'
import { deaths } from '../../src/api/hooks.ts'
import { checkGate } from '../../src/machine/gate.ts'
import {
  approveLoop,
  canMove,
  claimTask,
  completeLoop,
  failTick,
  haltLoop,
  type LoopVerb,
  pauseLoop,
  releaseTask,
  resumeLoop,
  scheduleLoop,
  waitTick,
} from '../../src/machine/loop.ts'
import type { LoopState, LoopStatus } from '../../src/machine/state.ts'
import { at, busyState, later, makeBrakes, makeConfig, makeFacts, makeState } from './builders.ts'

function halted(reason: Death, detail = '', state: LoopState = busyState()): LoopState {
  return haltLoop(state, { id: 'h1', reason, detail, files: ['x'], at: later })
}

describe('a tick that does not come to its end', () => {
  const spent = { usd: 1, tokens: 10, reported: true, seconds: 5, at: later, startedAt: at }

  test('a limit whose end is known is paid for, and is no error: the loop waits', () => {
    const state = makeState({ consecutive_errors: 2, incomplete_ticks: 1, iteration_count: 4 })
    expect(waitTick(state, { ...spent, notBefore: later })).toMatchObject({
      not_before: later,
      consecutive_errors: 2,
      incomplete_ticks: 0,
      iteration_count: 4,
      cost: { usd: 1, tokens: 10 },
      wall_seconds: state.wall_seconds + 5,
      last_tick_at: at,
    })
  })

  test('any other failure, and an approval, end the waiting', () => {
    const waiting = waitTick(makeState({}), { ...spent, notBefore: later })
    expect(failTick(waiting, spent)).toMatchObject({ not_before: null, consecutive_errors: 1 })
    expect(approveLoop(halted('human_intervention', 'login', waiting), later).not_before).toBeNull()
  })
})

describe('a schedule', () => {
  test('is on while its loop runs, off otherwise, and remembers whose its unit is', () => {
    const on = scheduleLoop(makeState({}), 'cron', at)
    expect(on.schedule).toEqual({ enabled: true, kind: 'cron' })
    const off = { enabled: false, kind: 'cron' }
    for (const stopped of [pauseLoop(on, later), completeLoop(on, later), halted('drift_detected', '', on)]) {
      expect(stopped.schedule).toEqual(off)
      expect(scheduleLoop(stopped, 'cron', later).schedule).toEqual(off)
    }
    expect(resumeLoop(pauseLoop(on, later), later).schedule).toEqual(on.schedule)
    expect(approveLoop(halted('drift_detected', '', on), later).schedule).toEqual(on.schedule)
    expect(scheduleLoop(on, null, later).schedule).toEqual({ enabled: false, kind: null })
    expect(approveLoop(halted('drift_detected'), later).schedule).toEqual({ enabled: false, kind: null })
  })
})

describe('status moves', () => {
  test('each verb starts from one status only', () => {
    const verbs: LoopVerb[] = ['pause', 'resume', 'halt', 'approve', 'complete']
    const statuses: LoopStatus[] = ['running', 'paused', 'halted', 'complete']
    const legal = statuses.flatMap((status) =>
      verbs.filter((verb) => canMove(status, verb)).map((verb) => `${status} ${verb}`),
    )
    expect(legal).toEqual([
      'running pause',
      'running halt',
      'running complete',
      'paused resume',
      'halted approve',
    ])
  })

  test('pause and resume keep everything else', () => {
    const state = busyState({ score_history: [0.1], iteration_count: 4 })
    expect(pauseLoop(state, later)).toEqual({ ...state, status: 'paused', updated_at: later })
    expect(resumeLoop(pauseLoop(state, later), at)).toEqual({ ...state, updated_at: at })
  })

  test('a halt is recorded whole, and the task stays claimed', () => {
    const state = halted('drift_detected', '1 file out of scope')
    expect(state).toMatchObject({ status: 'halted', current_task: 'fix-login', claimed_at: at })
    expect(state.halt).toEqual({
      id: 'h1',
      reason: 'drift_detected',
      detail: '1 file out of scope',
      at: later,
      files: ['x'],
    })
  })

  test('a complete loop has no task', () => {
    expect(completeLoop(busyState(), later)).toMatchObject({
      status: 'complete',
      current_task: null,
      last_task: 'fix-login',
    })
  })
})

describe('approve', () => {
  test('moves the baselines, clears the records of failure, and counts one resumption', () => {
    const spent = busyState({
      iteration_count: 20,
      iteration_base: 3,
      resumed_count: 1,
      wall_seconds: 500,
      cost: { usd: 4, tokens: 9000, reported: false },
      score_history: [0.1, 0.1, 0.1],
      fail_streak: 7,
      consecutive_errors: 3,
      incomplete_ticks: 3,
    })
    expect(approveLoop(halted('iterations_exhausted', '', spent), later)).toEqual({
      ...spent,
      status: 'running',
      halt: null,
      iteration_base: 20,
      resumed_count: 2,
      wall_base: 500,
      cost: { usd: 4, tokens: 9000, reported: true },
      cost_base: { usd: 4, tokens: 9000 },
      score_history: [],
      fail_streak: 0,
      consecutive_errors: 0,
      incomplete_ticks: 0,
      updated_at: later,
    })
  })

  const brakes = makeBrakes({ max_iterations: 3, max_budget_usd: 1, max_tokens: 100, max_wall_seconds: 60 })
  const config = makeConfig({ brakes })

  test.each(deaths.map((death) => [death]))(
    'after %s the next gate opens once its cause is gone',
    (reason) => {
      const worn = busyState({
        iteration_count: 3,
        wall_seconds: 60,
        cost: { usd: 1, tokens: 100, reported: false },
        score_history: [0.2, 0.2, 0.2],
        fail_streak: 3,
      })
      const stopped = halted(reason, '', worn)
      expect(checkGate(makeFacts({ state: stopped, config })).reason).toBe(`halted:${reason}`)
      const gate = checkGate(makeFacts({ state: approveLoop(stopped, later), config }))
      expect(gate).toMatchObject({
        ok: true,
        reason: 'ok',
        remaining_iterations: 3,
        remaining_budget_usd: 1,
      })
    },
  )

  test('a halt over the phase of the task lets go of the task, so that the next gate opens', () => {
    for (const phase of ['human_intervention', 'decompose'] as const) {
      const gate = checkGate(makeFacts({ task: { phase } }))
      expect(gate.effect).toBe('halt')
      const stopped = halted(gate.halt_reason ?? 'drift_detected', gate.detail)
      const approved = approveLoop(stopped, later)
      expect(approved).toMatchObject({ current_task: null, last_task: 'fix-login' })
      expect(checkGate(makeFacts({ state: approved, task: null })).ok).toBe(true)
    }
  })

  test('other halts keep the task', () => {
    expect(approveLoop(halted('verifier_failed'), later).current_task).toBe('fix-login')
  })
})

describe('claiming and letting go', () => {
  test('a new task takes a new time and no old hint', () => {
    const state = makeState({ last_task: 'other', next_hint: 'about other' })
    expect(claimTask(state, { task: 'fix-login', phase: 'implement', at: later })).toMatchObject({
      current_task: 'fix-login',
      current_phase: 'implement',
      claimed_at: later,
      next_hint: '',
    })
  })

  test('claiming the task at hand again keeps its time and its hint', () => {
    const state = busyState({ next_hint: 'go on' })
    expect(claimTask(state, { task: 'fix-login', phase: 'bug_hunt', at: later })).toMatchObject({
      current_phase: 'bug_hunt',
      claimed_at: at,
      next_hint: 'go on',
    })
  })

  test('a task that comes back finds its hint', () => {
    const state = releaseTask(busyState({ next_hint: 'go on' }), later)
    expect(state).toMatchObject({
      current_task: null,
      current_phase: null,
      claimed_at: null,
      phase_sha: null,
    })
    expect(claimTask(state, { task: 'fix-login', phase: 'implement', at: later }).next_hint).toBe('go on')
  })

  test('letting go of nothing remembers the task before', () => {
    expect(releaseTask(makeState({ last_task: 'old' }), later).last_task).toBe('old')
  })
})
