import * as v from 'valibot'
import { type Card, cardBytes } from '../../machine/cards.ts'
import { jsonIn, lookAt, notInstalled } from './look.ts'
import type { Probe } from './tools.ts'

/** AMD's cards, by its older program. */
export const rocmSmi: Probe = {
  name: 'rocm-smi',
  async look(tools) {
    const run = tools.program('rocm-smi')
    if (!run) return notInstalled
    const json = await run(['--showmeminfo', 'vram', '--json'])
    const cards = json.failure === null ? rocmCards(json.text) : []
    if (cards.length > 0) return lookAt(cards, json)
    const plain = await run(['--showmeminfo', 'vram'])
    return lookAt(plain.failure === null ? rocmCards(plain.text) : [], plain)
  },
}

/** The cards in the answer of `--showmeminfo vram`: JSON, CSV, a table, or lines. All sizes are in bytes. */
export function rocmCards(text: string): Card[] {
  const parsed = v.safeParse(answer, jsonIn(text))
  if (parsed.success) {
    return Object.entries(parsed.output).flatMap(([key, value]) => {
      const one = v.safeParse(device, value)
      return one.success ? card(nameOf(one.output) ?? `AMD ${key}`, one.output[total]) : []
    })
  }
  return text.split(/\r?\n/).flatMap((line) => {
    const [, index, bytes] = shapes.map((shape) => shape.exec(line)).find((found) => found !== null) ?? []
    return bytes === undefined ? [] : card(`AMD GPU ${index}`, bytes)
  })
}

const total = 'VRAM Total Memory (B)'
const answer = v.record(v.string(), v.unknown())
const device = v.object({
  [total]: v.union([v.string(), v.number()]),
  'Card Series': v.optional(v.string()),
  'Card series': v.optional(v.string()),
})

/** A line of text, of CSV, and of a table: the card, then all of its memory; what is used of it comes later, or on a line of its own. */
const shapes = [
  /^GPU\[(\d+)\]\s*:\s*VRAM Total Memory \(B\):\s*(\d+)\s*$/,
  /^card(\d+),(\d+),\d+\s*$/,
  /^(\d+)\s+\d+\s+(\d+)\s+\d+\s*$/,
]

function nameOf(one: v.InferOutput<typeof device>): string | null {
  const name = one['Card Series'] ?? one['Card series'] ?? 'N/A'
  return name === 'N/A' ? null : name
}

function card(name: string, amount: unknown): Card[] {
  const bytes = cardBytes(amount, 1)
  return bytes === null ? [] : [{ name, vendor: 'amd', bytes, memory: 'own' }]
}
