import type { Death } from '../api/hooks.ts'
import type { App } from '../app.ts'
import type { LoopState } from '../machine/state.ts'
import { peek } from '../store/journal.ts'
import { existingLoop } from './held.ts'

/** The stored status of a loop, as the contract (section 2) prints it. */
export interface ContinueReport {
  loop: string
  state: 'OK' | 'HALTED' | 'PAUSED' | 'COMPLETE' | 'UNTRACKED'
  reason: string
  halt_reason: Death | null
}

const words = { running: 'OK', paused: 'PAUSED', halted: 'HALTED', complete: 'COMPLETE' } as const

/** Says whether a loop may tick by its stored status alone. Reads only. Throws `state_damaged` and `state_tampered`. */
export function canContinue(app: App, { loop }: { loop: string }): ContinueReport {
  const { state, problem } = peek(existingLoop(app.project(), loop))
  if (problem) throw problem
  if (!state) return { loop, state: 'UNTRACKED', reason: 'untracked', halt_reason: null }
  return {
    loop,
    state: words[state.status],
    reason: reasonOf(state),
    halt_reason: state.halt?.reason ?? null,
  }
}

function reasonOf({ status, halt }: LoopState): string {
  if (halt) return `halted:${halt.reason}`
  return status === 'running' ? 'ok' : status
}
