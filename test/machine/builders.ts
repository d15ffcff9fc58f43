import type { Phase } from '../../src/api/work.ts'
import type { RoleContext } from '../../src/machine/budget.ts'
import type { Brakes, LoopConfig } from '../../src/machine/config.ts'
import type { GateFacts } from '../../src/machine/gate.ts'
import type { TickFacts } from '../../src/machine/loop.ts'
import { loopPhases } from '../../src/machine/phases.ts'
import { freshState, type LoopState } from '../../src/machine/state.ts'
import type { TaskState } from '../../src/machine/task.ts'

export const at = '2026-06-22T10:00:00.000Z'
export const later = '2026-06-22T11:00:00.000Z'

export function makeBrakes(changes: Partial<Brakes> = {}): Brakes {
  return {
    max_iterations: 20,
    max_budget_usd: null,
    max_tokens: null,
    max_wall_seconds: null,
    unknown_cost: 'halt',
    score_plateau_window: 3,
    score_epsilon: 0.01,
    max_consecutive_errors: 3,
    ...changes,
  }
}

export function makeConfig(changes: Partial<LoopConfig> = {}): LoopConfig {
  const role = { prompt: 'x.md', tier: 32_000, model: null }
  return {
    schema_version: 1,
    name: 'nightly',
    description: '',
    work_source: { kind: 'backlog', area: null, task: null, phases: null, options: {} },
    acceptance_criteria: [],
    roles: {
      implement: role,
      verify: role,
      orchestrate: { ...role, mode: 'session' },
      allow_same_model: false,
    },
    verifiers: [{ use: 'session' }],
    brakes: makeBrakes(),
    blast_radius: {
      worktree: true,
      file_scope: [],
      base_branch: 'main',
      sandbox: 'auto',
      primary: 'report',
    },
    outputs: { retention: 20 },
    schedule: { kind: 'native', interval_seconds: 3600 },
    harness: {
      use: 'opencode',
      command: null,
      timeout_seconds: 3600,
      idle_seconds: 900,
      env: [],
      writes: [],
    },
    ...changes,
  }
}

export function makeState(changes: Partial<LoopState> = {}): LoopState {
  return { ...freshState('nightly', at), ...changes }
}

/** A loop at work on `fix-login`. */
export function busyState(changes: Partial<LoopState> = {}): LoopState {
  const held = { current_task: 'fix-login', current_phase: 'implement', claimed_at: at } as const
  return makeState({ ...held, ...changes })
}

export function makeTick(changes: Partial<TickFacts> = {}): TickFacts {
  return {
    at: later,
    startedAt: at,
    wallSeconds: 60,
    task: 'fix-login',
    phase: 'implement',
    phaseAfter: 'implement',
    verdict: { pass: false, score: 0.4, reasons: [], next_hint: 'look at the tests' },
    cost: { usd: 0.5, tokens: 1000, reported: true },
    releasedTask: false,
    verifiedSha: null,
    phaseSha: null,
    window: 3,
    ...changes,
  }
}

export function makeTask(phase: Phase, changes: Partial<TaskState> = {}): TaskState {
  return {
    schema_version: 2,
    task: 'fix-login',
    phase,
    previous_phase: null,
    blocked_reason: null,
    claimed_by: null,
    design_ref: null,
    scope: [],
    acceptance_criteria: [],
    origin: { kind: 'human', fingerprint: null },
    sessions: {},
    models: {},
    history: [
      { seq: 1, at, from: null, to: phase, actor: 'human', session: null, model: null, note: 'created' },
    ],
    created_at: at,
    updated_at: at,
    ...changes,
  }
}

/** The verify role's window; as declared, unless `effective` says that a probe found less. */
export function makeContext({
  tier = 32_000,
  effective = tier,
}: {
  tier?: number
  effective?: number
}): RoleContext {
  const known =
    effective === tier
      ? ({ source: 'unknown', via: null } as const)
      : ({ source: 'probe', via: 'nvidia-smi' } as const)
  return { role: 'verify', tier, effective, available: effective === tier ? null : effective, ...known }
}

export function makeFacts(changes: Partial<GateFacts> = {}): GateFacts {
  return {
    loop: 'nightly',
    state: busyState(),
    config: makeConfig(),
    refusal: null,
    contexts: [makeContext({})],
    task: { phase: 'implement' },
    allowedPhases: loopPhases,
    outOfScope: [],
    tamper: null,
    models: { count: 0, implement: null, verify: null },
    ...changes,
  }
}

/** A small generator of numbers below `n`, the same for the same seed. */
export function seeded(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

/**
 * Whether `work` takes about eight times as long on eight times the input: quadratic work would take 64 times. Times are
 * the least of several rounds, and a busy machine gets more rounds.
 */
export function isLinear(
  work: (input: string) => void,
  shape: (size: number) => string,
  size: number,
): boolean {
  const small = shape(size)
  const large = shape(8 * size)
  const time = (input: string) => {
    const start = performance.now()
    work(input)
    return performance.now() - start
  }
  let best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 30; round++) {
    best = [Math.min(best[0], time(small)), Math.min(best[1], time(large))]
    if (round >= 2 && best[1] < 40 * Math.max(best[0], 0.1)) return true
  }
  return false
}
