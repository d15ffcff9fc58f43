import type { Role } from './harness.ts'
import type { Verdict } from './verdict.ts'
import type { Phase } from './work.ts'

/** The five deaths: why a loop is halted until a person approves. */
export const deaths = [
  'iterations_exhausted',
  'budget_exhausted',
  'verifier_failed',
  'drift_detected',
  'human_intervention',
] as const

/** One of {@link deaths}. */
export type Death = (typeof deaths)[number]

/** What each hook is told. Hooks observe: what they return is ignored, what they throw is logged. */
export interface HookEvents {
  'tick:start': { loop: string; tick: number }
  'work:found': { loop: string; tick: number; task: string; phase: Phase }
  'session:start': { loop: string; tick: number; role: Role; task: string }
  'session:end': { loop: string; tick: number; role: Role; task: string; ok: boolean; seconds: number }
  verdict: { loop: string; tick: number; task: string; verdict: Verdict }
  /** `project` is its folder, `fix` what a person types first. */
  halt: { loop: string; project: string; reason: Death; detail: string; haltId: string; fix: string }
  approve: { loop: string; haltId: string; by: string }
  /** `fix` is how a person takes the work over; empty where it lies in their own checkout. */
  complete: { loop: string; project: string; task: string; fix: string }
  'tick:end': { loop: string; tick: number; outcome: string }
}

/** What the hook `tokens:estimate` is asked: how many tokens a text takes in the session's model, null if the harness chooses it. */
export interface TokenQuestion {
  text: string
  model: string | null
}

/** The hooks that look on. */
export type Observers = { [E in keyof HookEvents]?: (event: HookEvents[E]) => void | Promise<void> }

/** A plugin's hooks, each optional. */
export type Hooks = Observers & {
  /**
   * The one hook that answers: its number, at least 0, takes the place of automaton's own estimate when a prompt is made
   * to fit. It is asked a few times for a prompt. Of several plugins the last one loaded counts.
   */
  'tokens:estimate'?: (question: TokenQuestion) => number | Promise<number>
}
