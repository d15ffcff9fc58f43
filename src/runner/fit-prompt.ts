import type { Rendered } from '../assets/render.ts'

/** How often a plugin that counts is asked for one prompt. */
const mostCounts = 6
/** A prompt that was cut should fill this much of its limit, where more of it could stay. */
const fullEnough = 0.85

/**
 * Draws a prompt within `limit` tokens. Where a plugin counts, its numbers hold: the budget of automaton's own estimate is
 * moved until the plugin's count fits. Without one, or with one that no prompt satisfies, the estimate stands.
 */
export async function fitPrompt(o: {
  limit: number
  /** Draws it within a budget of estimated tokens. */
  draw(budget: number): Rendered
  /** What a plugin counts; null when none does. */
  count(text: string): Promise<number | null>
}): Promise<Rendered> {
  const { limit, draw, count } = o
  let budget = limit
  let best: Rendered | null = null
  for (let left = mostCounts; left > 0; left--) {
    const drawn = draw(budget)
    const counted = await count(drawn.text)
    if (counted === null) break
    if (counted <= limit) {
      best = drawn
      if (drawn.cut.length === 0 || counted >= limit * fullEnough) return best
    } else if (best) return best
    budget = Math.floor(Math.min(8 * limit, (budget * limit * 0.95) / Math.max(1, counted)))
  }
  return best ?? draw(limit)
}
