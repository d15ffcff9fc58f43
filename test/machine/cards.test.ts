import { describe, expect, test } from 'bun:test'
import { type Card, cardBytes, chooseCard, mebibyte, unitBytes } from '../../src/machine/cards.ts'

const gib = 2 ** 30

function card(name: string, size: number, more: Partial<Card> = {}): Card {
  return { name, vendor: 'nvidia', bytes: size * gib, memory: 'own', ...more }
}

function chosen(...findings: [probe: string, ...cards: Card[]][]) {
  const choice = chooseCard(findings.map(([probe, ...cards]) => ({ probe, cards })))
  return choice && [choice.card.name, choice.card.bytes / gib, choice.probe]
}

describe('of several cards', () => {
  test('the largest single one counts, never the sum', () => {
    expect(chosen(['nvidia-smi', card('A', 8), card('B', 24), card('C', 24)])).toEqual([
      'B',
      24,
      'nvidia-smi',
    ])
  })

  test('a discrete card comes before one that shares the memory, however much that is', () => {
    const shared = card('Strix Halo', 112, { vendor: 'amd', memory: 'shared', setAside: 8 * gib })
    expect(chosen(['nvidia-smi', card('RTX', 8)], ['sysfs', shared])).toEqual(['RTX', 8, 'nvidia-smi'])
    expect(chosen(['nvidia-smi'], ['sysfs', shared])).toEqual(['Strix Halo', 112, 'sysfs'])
  })

  test('of two vendors the larger card counts', () => {
    const amd = card('XTX', 24, { vendor: 'amd' })
    expect(chosen(['nvidia-smi', card('RTX', 8)], ['amd-smi', amd])).toEqual(['XTX', 24, 'amd-smi'])
  })

  test('of one vendor’s probes the first that found something is believed', () => {
    const first = card('RTX', 23.9)
    expect(chosen(['nvidia-smi', first], ['registry', card('RTX', 24)])).toEqual(['RTX', 23.9, 'nvidia-smi'])
    expect(chosen(['nvidia-smi'], ['registry', card('RTX', 24)])).toEqual(['RTX', 24, 'registry'])
  })

  test('what a tool takes for a card, and is a processor’s part of the memory, is not one', () => {
    const shared = card('8060S', 30, { vendor: 'amd', memory: 'shared', setAside: gib / 2 })
    const taken = card('AMD GPU 0', 0.5, { vendor: 'amd' })
    expect(chosen(['amd-smi', taken], ['sysfs', shared])).toEqual(['8060S', 30, 'sysfs'])
    const real = card('AMD GPU 1', 16, { vendor: 'amd' })
    expect(chosen(['amd-smi', taken, real], ['sysfs', shared])).toEqual(['AMD GPU 1', 16, 'amd-smi'])
  })

  test('nothing is nothing', () => {
    expect(chosen()).toBeNull()
    expect(chosen(['nvidia-smi'], ['amd-smi'])).toBeNull()
  })
})

test.each([
  ['24564', mebibyte, 24_564 * mebibyte],
  [24_564, mebibyte, 24_564 * mebibyte],
  ['12216.00', mebibyte, 12_216 * mebibyte],
  [' 65536 ', mebibyte, 65_536 * mebibyte],
  ['0', mebibyte, null],
  [0, 1, null],
  ['63', mebibyte, null],
  ['-1', 1, null],
  ['24,564', mebibyte, null],
  ['24.564,00', mebibyte, null],
  ['24 564', mebibyte, null],
  ['1e6', mebibyte, null],
  ['0x600000000', 1, null],
  ['[N/A]', mebibyte, null],
  ['', mebibyte, null],
  ['9'.repeat(20), 1, null],
  [Number.NaN, 1, null],
  [Number.POSITIVE_INFINITY, 1, null],
  [null, 1, null],
  [{}, 1, null],
  ['24564', 0, null],
])('the size %p, in units of %p bytes, is %p', (amount, unit, bytes) => {
  expect(cardBytes(amount, unit)).toBe(bytes)
})

test.each([
  ['MB', mebibyte],
  ['MiB', mebibyte],
  ['GB', gib],
  ['B', 1],
  ['parsec', null],
  ['', null],
])('the unit %p has %p bytes', (unit, bytes) => {
  expect(unitBytes(unit)).toBe(bytes)
})
