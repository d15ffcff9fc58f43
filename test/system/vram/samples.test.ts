import { describe, expect, test } from 'bun:test'
import { chooseCard } from '../../../src/machine/cards.ts'
import { amdCard } from '../../../src/system/vram/amd-sysfs.ts'
import { intelCard } from '../../../src/system/vram/intel-sysfs.ts'
import { presentCards } from '../../../src/system/vram/windows-registry.ts'
import { xpuIds } from '../../../src/system/vram/xpu-smi.ts'
import { gib, type Sample, sparkMemory } from './sample.ts'
import { amdSamples } from './samples-amd.ts'
import { nvidiaSamples } from './samples-nvidia.ts'
import { otherSamples } from './samples-other.ts'

const samples = [...nvidiaSamples, ...amdSamples, ...otherSamples]

for (const { what, read, text, cards } of samples) {
  test(`${what}: ${cards.length === 0 ? 'unknown' : cards.map(([name]) => name).join(', ')}`, () => {
    const found = read(text)
    const seen = found.map(({ name, bytes, memory }): Sample['cards'][number] =>
      memory === 'shared' ? [name, bytes, memory] : [name, bytes],
    )
    expect(seen).toEqual(cards)
    // Whatever was said, a size is a size.
    for (const { bytes } of found) expect(Number.isInteger(bytes) && bytes > 0).toBe(true)
    expect(chooseCard([{ probe: 'it', cards: found }])?.card.bytes ?? 'unknown').not.toBeNaN()
  })
}

test.each(samples.map(({ what, read, text }) => [what, read, text] as const))(
  '%s, cut off anywhere, is never more than it says',
  (_, read, text) => {
    const most = Math.max(0, ...read(text).map(({ bytes }) => bytes))
    for (let length = 0; length < text.length; length += Math.ceil(text.length / 40)) {
      for (const { bytes } of read(text.slice(0, length))) {
        expect(Number.isInteger(bytes) && bytes > 0).toBe(true)
        expect(bytes).toBeLessThanOrEqual(Math.max(most, sparkMemory))
      }
    }
  },
)

describe('the kernel’s files', () => {
  const amd = (vram: string | null, gtt: string | null, memory: number | null, isBoard = false) => {
    const card = amdCard({ vram, gtt, isBoard, product: null }, memory)
    return card && [card.bytes, card.memory]
  }

  test('a card has its own memory', () => {
    expect(amd('25753026560\n', '16726204416\n', 32 * gib, true)).toEqual([25_753_026_560, 'own'])
    // A small card in a machine with much memory: its maker's name says that it is a card.
    expect(amd('4278190080\n', '133143986176\n', 128 * gib, true)).toEqual([4_278_190_080, 'own'])
  })

  test('a processor’s graphics has nine tenths of the machine’s at most', () => {
    expect(amd('536870912\n', '116769423360\n', 128 * gib)).toEqual([536_870_912 + 116_769_423_360, 'shared'])
    expect(amd('8589934592\n', '133143986176\n', 128 * gib)).toEqual([Math.floor(128 * gib * 0.9), 'shared'])
    expect(amd('536870912\n', '8000000000\n', null)).toEqual([8_536_870_912, 'shared'])
  })

  test('what is no size is unknown', () => {
    for (const vram of [null, '', '0\n', 'N/A\n', '-1\n', '0x1000\n'])
      expect(amd(vram, '16726204416', gib)).toBeNull()
  })

  test('the tiles of one Intel card are one memory; without files there is none', () => {
    expect(intelCard(['17102532608\n'])?.bytes).toBe(17_102_532_608)
    expect(intelCard(['25769803776\n', '25769803776\n'])?.bytes).toBe(2 * 25_769_803_776)
    expect(intelCard([])).toBeNull()
    expect(intelCard(['25769803776\n', 'broken'])).toBeNull()
  })
})

test('the registry’s cards count if they are there still', () => {
  const card = (name: string) => ({ name, vendor: 'amd', bytes: 8 * gib, memory: 'own' }) as const
  const cards = [card('AMD Radeon RX 6600'), card('AMD Radeon RX 7900 XTX')]
  const names = (...there: string[]) => presentCards(cards, there).map(({ name }) => name)
  expect(names('AMD Radeon(TM) RX 6600')).toEqual(['AMD Radeon RX 6600'])
  expect(names('Radeon RX 7900 XTX')).toEqual(['AMD Radeon RX 7900 XTX'])
  expect(names('AMD Radeon')).toEqual(names())
  expect(names('NVIDIA GeForce RTX 4070')).toEqual([])
  expect(names()).toHaveLength(2)
})

test('the numbers of cards whose list says no memory', () => {
  expect(xpuIds('{"device_list":[{"device_id":0},{"device_id":"1"},{"device_id":"-rf /"}]}')).toEqual([])
  expect(xpuIds('{"device_list":[{"device_id":0},{"device_id":"1"}]}')).toEqual(['0', '1'])
})
