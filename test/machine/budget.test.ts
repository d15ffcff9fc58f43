import { describe, expect, test } from 'bun:test'
import {
  availableTokens,
  type ContextKnowledge,
  contextFloor,
  roleContext,
  servedTokens,
} from '../../src/machine/budget.ts'

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

test('the floor lies between 9 GiB and 10 GiB', () => {
  expect(availableTokens(9 * gib)).toBeLessThan(contextFloor)
  expect(availableTokens(10 * gib)).toBeGreaterThanOrEqual(contextFloor)
})

describe('the window of a role', () => {
  const found = (size: number) => ({ bytes: size * gib, via: 'nvidia-smi' })
  const serves = (tokens: number) => ({ tokens, via: 'ollama at http://127.0.0.1:11434' })
  const window = (changes: Partial<ContextKnowledge> = {}) => {
    const nothing = {
      override: null,
      backend: 'auto',
      remoteHarness: false,
      served: null,
      detected: null,
    } as const
    const { effective, source } = roleContext({ role: 'verify', tier: 32_000, ...nothing, ...changes })
    return [effective, source]
  }

  test('what is not known does not cap', () => {
    expect(window()).toEqual([32_000, 'unknown'])
    for (const bytes of [0, -1, Number.NaN]) {
      expect(window({ detected: { bytes, via: 'nvidia-smi' } })).toEqual([32_000, 'unknown'])
    }
  })

  test('a positive detection caps, and never raises', () => {
    expect(window({ detected: found(10) })).toEqual([17_408, 'probe'])
    expect(window({ detected: found(10), backend: 'local' })).toEqual([17_408, 'probe'])
    expect(window({ detected: found(8) })).toEqual([13_926, 'probe'])
    expect(window({ detected: found(48) })).toEqual([32_000, 'probe'])
    expect(window({ detected: found(24), tier: 128_000 })).toEqual([41_779, 'probe'])
  })

  test('a remote service is not capped by this machine', () => {
    expect(window({ detected: found(8), served: serves(4096), backend: 'remote' })).toEqual([
      32_000,
      'remote',
    ])
    expect(window({ detected: found(8), remoteHarness: true })).toEqual([32_000, 'remote'])
  })

  test('what a server has loaded wins over arithmetic, in both directions', () => {
    expect(window({ detected: found(48), served: serves(4096) })).toEqual([4096, 'server'])
    expect(window({ detected: found(8), served: serves(65_536) })).toEqual([32_000, 'server'])
    expect(window({ detected: found(10), served: serves(0) })).toEqual([17_408, 'probe'])
  })

  test('a person’s override wins over all of them', () => {
    expect(window({ detected: found(8), served: serves(4096), override: 24_000 })).toEqual([
      24_000,
      'override',
    ])
    expect(window({ backend: 'remote', override: 8000 })).toEqual([8000, 'override'])
    expect(window({ override: 64_000 })).toEqual([32_000, 'override'])
  })
})

describe('of several loaded models', () => {
  const models = [
    { model: 'embed:latest', tokens: 2048 },
    { model: 'qwen3:8b', tokens: 32_768 },
  ]

  test('the one that the role names counts, with or without its provider', () => {
    expect(servedTokens(models, 'qwen3:8b')).toBe(32_768)
    expect(servedTokens(models, 'ollama/qwen3:8b')).toBe(32_768)
  })

  test('else the smallest: any of them could serve', () => {
    expect(servedTokens(models, null)).toBe(2048)
    expect(servedTokens(models, 'qwen3:14b')).toBe(2048)
    expect(servedTokens([], 'qwen3:8b')).toBeNull()
  })
})
