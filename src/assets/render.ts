import { cutText, fence, showInvisible } from './fence.ts'

/** Tokens whose text automaton wrote itself; it goes in as it is. */
const inner = [
  'current_task',
  'current_phase',
  'output',
  'cwd',
  'model',
  'phase_guide',
  'file_scope',
] as const

/** Tokens whose text came from outside; it is fenced. In the order in which they give way when the budget is short. */
const outer = [
  'diff',
  'artifact_content',
  'task_brief',
  'next_hint',
  'acceptance_criteria',
  'verdict',
] as const

/** A token of a prompt (contract, section 6.2), without its braces. */
export type PromptToken = (typeof inner)[number] | (typeof outer)[number]

/** Texts by token; a token without one is replaced by nothing, and `model` stays as it is. */
export type PromptValues = Partial<Record<PromptToken, string>>

/** What a prompt is made of. */
export interface RenderInput {
  template: string
  values: PromptValues
  /** Longest text of a token in characters; by default 8,000 for the criteria and 4,000 for the hint. */
  limits?: Partial<Record<PromptToken, number>>
  /** The whole prompt's length in tokens of four characters. */
  budgetTokens: number
  /** Random and new for each prompt, so that no text from outside can end its own fence. */
  marker: string
}

/** A prompt, and which of its parts were cut; each cut is said in the text as well. */
export interface Rendered {
  text: string
  cut: string[]
}

const defaultLimits: Partial<Record<PromptToken, number>> = { acceptance_criteria: 8000, next_hint: 4000 }
const tokens = new RegExp(`\\{(${[...inner, ...outer].join('|')})\\}`, 'g')

/**
 * Fills a prompt's tokens in one pass: text that came in is never looked at again, and unknown braces stay. The result
 * is never longer than the budget. Text from outside is cut to fit, the least needed first; then the template's end.
 */
export function render({ template, values, limits, budgetTokens, marker }: RenderInput): Rendered {
  const budget = Math.max(0, Math.floor(budgetTokens)) * 4
  const cut = new Set<string>()
  const shown = new Map<PromptToken, string>()
  for (const token of outer) {
    const whole = showInvisible(values[token] ?? '').replaceAll(marker, '[marker]')
    const text = cutText(whole, limits?.[token] ?? defaultLimits[token] ?? Number.POSITIVE_INFINITY)
    if (text !== whole) cut.add(token)
    shown.set(token, text)
  }
  const fill = () =>
    template.replace(tokens, (braces, token: PromptToken) => {
      const text = shown.get(token)
      if (text !== undefined) return fence(text, token, marker)
      return values[token] ?? (token === 'model' ? braces : '')
    })
  let text = fill()
  for (const token of outer) {
    const before = shown.get(token) ?? ''
    const times = template.split(`{${token}}`).length - 1
    if (text.length <= budget || times === 0 || before === '') continue
    const room = before.length - Math.ceil((text.length - budget) / times)
    shown.set(token, cutText(before, Math.max(0, room)))
    cut.add(token)
    text = fill()
  }
  if (text.length <= budget) return { text, cut: [...cut] }
  return { text: cutText(text, budget).slice(0, budget), cut: [...cut, 'template'] }
}
