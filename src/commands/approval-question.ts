import type { Halt, LoopState } from '../machine/state.ts'
import { visible } from '../system/hygiene.ts'
import { haltFile, haltWords } from './halt-words.ts'
import { spentWords } from './spent-words.ts'

const shownFiles = 20

/** What a person sees before approving at the terminal, and what they are asked to type. */
export function approvalQuestion(loop: string, state: LoopState, halt: Halt): string {
  const usd = state.cost.usd - state.cost_base.usd
  const tokens = state.cost.tokens - state.cost_base.tokens
  const more = halt.files.length - shownFiles
  const lines = [
    `loop     ${loop}, tick ${state.iteration_count}`,
    `halted   ${halt.reason} (${haltWords(halt)}), ${halt.at}`,
    `task     ${state.current_task ?? state.last_task ?? 'none'}`,
    `spent    ${spentWords({ usd, tokens, reported: state.cost.reported })} since the last approval`,
    ...halt.files.slice(0, shownFiles).map((file) => `file     ${haltFile(file)}`),
    ...(more > 0 ? [`         and ${more} more`] : []),
  ]
  const shown = lines.map((line) => visible(line).replaceAll('\n', '\\n')).join('\n')
  return `${shown}\n\nType ${halt.id} to approve: `
}
