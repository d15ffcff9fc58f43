import { charactersPerToken, unitsOf, unitsPerToken } from '../machine/tokens.ts'
import { cutText, fence, showInvisible, weightOf } from './fence.ts'

/** Tokens whose text automaton wrote itself; it goes in as it is. */
const inner = [
  'current_task',
  'current_phase',
  'output',
  'cwd',
  'model',
  'phase_guide',
  'file_scope',
  'context_budget',
] as const

/**
 * Tokens whose text came from outside; it is fenced. In the order in which they give way when the budget is short: the
 * changes lie in the folder too and the artifact in a file, while the criteria are nowhere else.
 */
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
  /** The whole prompt's length in tokens, as {@link estimateTokens} counts them. */
  budgetTokens: number
  /** Random and new for each prompt, so that no text from outside can end its own fence. */
  marker: string
}

/** A part of a prompt that was cut, and its length in characters before and after; the mark in the text counts with it. */
export interface Cut {
  part: PromptToken | 'template'
  from: number
  to: number
}

/** A prompt, and which of its parts were cut; each cut is said in the text as well. */
export interface Rendered {
  text: string
  cut: Cut[]
  /** Every token's text as it went in, without its fence. */
  values: PromptValues
}

const defaultLimits: Partial<Record<PromptToken, number>> = { acceptance_criteria: 8000, next_hint: 4000 }
const tokens = new RegExp(`\\{(${[...inner, ...outer].join('|')})\\}`, 'g')

/**
 * Fills a prompt's tokens in one pass: text that came in is never looked at again, and unknown braces stay. The result
 * is never longer than the budget. Text from outside is cut to fit, the least needed first; then the template's middle.
 */
export function render(input: RenderInput): Rendered {
  const { template, values, budgetTokens, marker } = input
  const budget = Math.max(0, Math.floor(budgetTokens)) * unitsPerToken
  const texts = new Map(outer.map((token) => [token, outsideText(input, token)]))
  const shown = new Map<PromptToken, string>([...texts].map(([token, { text }]) => [token, text]))
  let excess = weigh(fill(template, values, new Map())) - budget
  const uses = countUses(template)
  const cost = (token: PromptToken) =>
    (uses.get(token) ?? 0) * weigh(fence(shown.get(token) ?? '', token, marker))
  for (const token of outer) excess += cost(token)
  for (const token of outer) {
    const times = uses.get(token) ?? 0
    const before = shown.get(token) ?? ''
    if (excess <= 0 || times === 0 || before === '') continue
    const was = cost(token)
    const room = weigh(before) - Math.ceil(excess / times)
    shown.set(token, cutText(before, Math.max(0, room), unitsOf, texts.get(token)?.missing))
    excess -= was - cost(token)
  }
  const fenced = new Map([...shown].map(([token, text]) => [token, fence(text, token, marker)]))
  const text = fill(template, values, fenced)
  const cut = outer.flatMap((token): Cut[] => {
    const [from, to] = [texts.get(token)?.from ?? 0, shown.get(token)?.length ?? 0]
    return from === to || !uses.has(token) ? [] : [{ part: token, from, to }]
  })
  const all = { ...values, ...Object.fromEntries(shown) }
  if (excess <= 0) return { text, cut, values: all }
  const short = cutWhole(text, budget)
  return {
    text: short,
    cut: [...cut, { part: 'template', from: text.length, to: short.length }],
    values: all,
  }
}

/** A text from outside as it can be shown: no longer than its own limit, and how long it was. */
interface OutsideText {
  text: string
  from: number
  /** Characters that were left out of its middle without a mark, since no budget could hold them. */
  missing: number
}

/** Writing out what hides takes time for each character, so only what could be shown is looked at. */
function outsideText(
  { values, limits, marker, budgetTokens }: RenderInput,
  token: (typeof outer)[number],
): OutsideText {
  const raw = values[token] ?? ''
  const most = Math.max(leastShown, 2 * charactersPerToken * Math.ceil(budgetTokens))
  const missing = Math.max(0, raw.length - 2 * most)
  const ends = missing > 0 ? raw.slice(0, most) + raw.slice(-most) : raw
  const whole = showInvisible(ends).replaceAll(marker, '[marker]')
  const limit = limits?.[token] ?? defaultLimits[token] ?? Number.POSITIVE_INFINITY
  const from = whole.length + missing
  if (from <= limit) return { text: whole, from, missing }
  return { text: cutText(whole, limit, undefined, missing), from, missing: 0 }
}

/** More than the limit of any one text. */
const leastShown = 20_000

function fill(template: string, values: PromptValues, fenced: ReadonlyMap<string, string>): string {
  const isOuter = (token: string) => outer.some((known) => known === token)
  return template.replace(tokens, (braces, token: PromptToken) => {
    if (isOuter(token)) return fenced.get(token) ?? ''
    return values[token] ?? (token === 'model' ? braces : '')
  })
}

/** How often the template names each token. */
function countUses(template: string): Map<PromptToken, number> {
  const uses = new Map<PromptToken, number>()
  for (const [, token] of template.matchAll(tokens)) {
    uses.set(token as PromptToken, (uses.get(token as PromptToken) ?? 0) + 1)
  }
  return uses
}

function weigh(text: string): number {
  return weightOf(text, unitsOf)
}

/** Within the budget whatever it takes: the mark itself may be too long. */
function cutWhole(text: string, budget: number): string {
  const short = cutText(text, budget, unitsOf)
  return weigh(short) <= budget ? short : short.slice(0, Math.floor(budget / unitsOf(0x4e00)))
}
