import type { SessionUsage } from '../api/harness.ts'

/** What a model costs: US dollars for a million tokens. */
export interface Price {
  input: number
  output: number
  /** For tokens that were read from a cache; absent: as `input`. */
  cached?: number
}

/** Prices by model id, which is compared as it is written. */
export type Prices = Readonly<Record<string, Price>>

/**
 * What a session cost in US dollars: what the harness says, else its tokens by the table. Tokens of which nobody says
 * whether they went in or out are priced as the dearer ones, since a cap must hold. Null: nobody knows.
 */
export function costOf(usage: SessionUsage, model: string | null, prices: Prices): number | null {
  if (usage.usd !== null) return usage.usd
  const price = model !== null && Object.hasOwn(prices, model) ? prices[model] : undefined
  if (!price) return null
  const { input, output, cached = 0, tokens } = usage
  if (input === undefined || output === undefined) {
    return tokens === null ? null : (tokens * Math.max(price.input, price.output)) / million
  }
  const known = input * price.input + output * price.output + cached * (price.cached ?? price.input)
  const rest = Math.max(0, (tokens ?? 0) - input - output - cached)
  return (known + rest * Math.max(price.input, price.output)) / million
}

const million = 1_000_000
