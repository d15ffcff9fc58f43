import { describe, expect, test } from 'bun:test'
import { availableTokens, contextFloor, effectiveTier, estimateTokens } from '../../src/machine/budget.ts'

const gib = 2 ** 30

test.each([
  [8, 13_926],
  [10, 17_408],
  [12, 20_889],
  [16, 27_852],
  [24, 41_779],
  [48, 83_558],
  [0, 0],
])('%p GiB hold %p tokens: one headroom, applied once', (size, tokens) => {
  expect(availableTokens(size * gib)).toBe(tokens)
})

describe('the tier that is in force', () => {
  const tier = (changes: Partial<Parameters<typeof effectiveTier>[0]> = {}) =>
    effectiveTier({
      tier: 32_000,
      detectedBytes: null,
      override: null,
      backend: 'auto',
      remoteHarness: false,
      ...changes,
    })

  test('what is not known does not cap', () => {
    expect(tier()).toBe(32_000)
    for (const detectedBytes of [0, -1, Number.NaN]) expect(tier({ detectedBytes })).toBe(32_000)
  })

  test('a positive detection caps, and never raises', () => {
    expect(tier({ detectedBytes: 10 * gib })).toBe(17_408)
    expect(tier({ detectedBytes: 8 * gib })).toBeLessThan(contextFloor)
    expect(tier({ detectedBytes: 48 * gib })).toBe(32_000)
    expect(tier({ detectedBytes: 10 * gib, backend: 'local' })).toBe(17_408)
  })

  test('a remote service is not capped by this machine', () => {
    expect(tier({ detectedBytes: 8 * gib, backend: 'remote' })).toBe(32_000)
    expect(tier({ detectedBytes: 8 * gib, remoteHarness: true })).toBe(32_000)
  })

  test('a person’s override wins over detection and over remote', () => {
    expect(tier({ detectedBytes: 8 * gib, override: 24_000 })).toBe(24_000)
    expect(tier({ backend: 'remote', override: 8000 })).toBe(8000)
    expect(tier({ override: 64_000 })).toBe(32_000)
  })
})

test('a token is about four characters', () => {
  expect(estimateTokens('')).toBe(0)
  expect(estimateTokens('abcd')).toBe(1)
  expect(estimateTokens('abcde')).toBe(2)
})
