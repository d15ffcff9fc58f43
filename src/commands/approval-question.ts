import type { Halt, LoopState } from '../machine/state.ts'
import { visible } from '../system/hygiene.ts'

const shownFiles = 20

/** What a person sees before approving at the terminal, and what they are asked to type. */
export function approvalQuestion(loop: string, state: LoopState, halt: Halt): string {
  const usd = state.cost.usd - state.cost_base.usd
  const tokens = state.cost.tokens - state.cost_base.tokens
  const more = halt.files.length - shownFiles
  const lines = [
    `loop     ${loop}, tick ${state.iteration_count}`,
    `halted   ${halt.reason}${halt.detail ? ` (${halt.detail})` : ''}, ${halt.at}`,
    `task     ${state.current_task ?? state.last_task ?? 'none'}`,
    `spent    ${state.cost.reported ? '' : 'at least '}$${usd.toFixed(2)}, ${tokens} tokens since the last approval`,
    ...halt.files.slice(0, shownFiles).map((file) => `file     ${file}`),
    ...(more > 0 ? [`         and ${more} more`] : []),
  ]
  const shown = lines.map((line) => visible(line).replaceAll('\n', '\\n')).join('\n')
  return `${shown}\n\nType ${halt.id} to approve: `
}
