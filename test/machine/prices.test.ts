import { expect, test } from 'bun:test'
import { costOf } from '../../src/machine/prices.ts'

const prices = { m: { input: 3, output: 15, cached: 0.3 }, flat: { input: 2, output: 2 } }
const cost = (usage: Partial<Parameters<typeof costOf>[0]>, model: string | null = 'm') =>
  costOf({ usd: null, tokens: null, ...usage }, model, prices)

test('what the harness says wins over the table', () => {
  expect(cost({ usd: 0.5, tokens: 1000 })).toBe(0.5)
  expect(cost({ usd: 0, tokens: 1000 })).toBe(0)
})

test('tokens in, out and from a cache have their prices', () => {
  expect(cost({ tokens: 1_200_000, input: 1_000_000, output: 100_000, cached: 100_000 })).toBeCloseTo(
    4.53,
    10,
  )
  expect(cost({ tokens: 3_000_000, input: 1_000_000, output: 1_000_000, cached: 1_000_000 }, 'flat')).toBe(6)
})

test('tokens that are no part of a sum, or have no parts, are priced as the dearer ones', () => {
  expect(cost({ tokens: 1_000_000 })).toBe(15)
  expect(cost({ tokens: 1_500_000, input: 1_000_000, output: 0 })).toBeCloseTo(10.5, 10)
  expect(cost({ tokens: 1_000_000, input: 1_000_000 })).toBe(15)
})

test('parts alone are enough', () => {
  expect(cost({ input: 1_000_000, output: 0 })).toBe(3)
})

test('a model that is not in the table, or no tokens at all, costs what nobody knows', () => {
  expect(cost({ tokens: 1 }, 'M')).toBeNull()
  expect(cost({ tokens: 1 }, null)).toBeNull()
  expect(cost({ tokens: 1 }, 'constructor')).toBeNull()
  expect(cost({})).toBeNull()
})
