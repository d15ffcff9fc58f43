import { describe, expect, test } from 'bun:test'
import { type Rendered, render } from '../../src/assets/render.ts'
import { fitPrompt } from '../../src/runner/fit-prompt.ts'

const limit = 1000

/** A prompt of a long or short diff; `asked` are the texts that a plugin counted. */
async function fit(length: number, count: (text: string, nth: number) => number | null) {
  const asked: string[] = []
  const budgets: number[] = []
  const draw = (budgetTokens: number): Rendered => {
    budgets.push(budgetTokens)
    const values = { diff: 'd'.repeat(length) }
    return render({ template: 'Look: {diff}', values, budgetTokens, marker: 'm' })
  }
  const counter = async (text: string) => {
    asked.push(text)
    return count(text, asked.length)
  }
  const { text } = await fitPrompt({ limit, draw, count: counter })
  return { text, asked, budgets }
}

test('without a plugin the estimate decides, and nothing is drawn twice', async () => {
  const { text, asked, budgets } = await fit(100_000, () => null)
  expect(text.length).toBeLessThanOrEqual(4 * limit)
  expect(text.length).toBeGreaterThan(3.9 * limit)
  expect(asked).toHaveLength(1)
  expect(new Set(budgets)).toEqual(new Set([limit]))
})

test('a prompt that fits whole is asked for once', async () => {
  expect((await fit(100, (text) => text.length / 4)).asked).toHaveLength(1)
})

describe('a plugin’s count holds', () => {
  test.each([
    ['one character a token', 1],
    ['two characters a token', 2],
    ['ten characters a token', 10],
    ['a hundred tokens a character', 0.01],
  ])('%s', async (_, characters) => {
    const count = (text: string) => Math.ceil(text.length / characters)
    const { text, asked } = await fit(100_000, count)
    expect(count(text)).toBeLessThanOrEqual(limit)
    if (characters >= 1) expect(count(text)).toBeGreaterThan(0.8 * limit)
    expect(asked.length).toBeLessThanOrEqual(6)
  })
})

test.each([
  ['never satisfied', () => 1e12],
  ['fails after its first count', (_: string, nth: number) => (nth === 1 ? 5000 : null)],
])('with a plugin that %s the estimate stands', async (_, count) => {
  const { text } = await fit(100_000, count)
  expect(text.length).toBeLessThanOrEqual(4 * limit)
  expect(text.length).toBeGreaterThan(3.9 * limit)
})
