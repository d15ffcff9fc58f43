import * as v from 'valibot'
import { type Card, cardBytes, mebibyte } from '../../machine/cards.ts'
import { jsonIn, lookAt, notInstalled } from './look.ts'
import type { Probe } from './tools.ts'

/** Intel's cards, by its program. */
export const xpuSmi: Probe = {
  name: 'xpu-smi',
  async look(tools) {
    const run = tools.program('xpu-smi')
    if (!run) return notInstalled
    const all = await run(['discovery', '-j'])
    if (all.failure !== null) return lookAt([], all)
    const cards = xpuCards(all.text)
    if (cards.length > 0) return lookAt(cards, all)
    // Its list may leave the memory out, which it says of each card by itself.
    const each = await Promise.all(xpuIds(all.text).map((id) => run(['discovery', '-d', id, '-j'])))
    return lookAt(
      each.flatMap(({ text, failure }) => (failure === null ? xpuCards(text) : [])),
      all,
    )
  },
}

/** The cards in the answer of `discovery`, of all cards or of one, as JSON or as a table. */
export function xpuCards(text: string): Card[] {
  const devices = devicesIn(text)
  if (devices.length === 0) return cardsInTable(text)
  return devices.flatMap(({ device_name, memory_physical_size_byte }) =>
    card(device_name, cardBytes(memory_physical_size_byte, 1)),
  )
}

/** The numbers of the cards in the list. */
export function xpuIds(text: string): string[] {
  return devicesIn(text).flatMap(({ device_id }) => (device_id === undefined ? [] : [String(device_id)]))
}

const device = v.object({
  device_id: v.optional(v.pipe(v.union([v.number(), v.string()]), v.transform(String), v.regex(/^\d{1,4}$/))),
  device_name: v.optional(v.string(), 'Intel graphics'),
  memory_physical_size_byte: v.optional(v.union([v.number(), v.string()])),
})
const answer = v.union([
  v.object({ device_list: v.array(device) }),
  v.object({ devices: v.array(device) }),
  device,
])

function devicesIn(text: string): v.InferOutput<typeof device>[] {
  const parsed = v.safeParse(answer, jsonIn(text))
  if (!parsed.success) return []
  const { output } = parsed
  if ('device_list' in output) return output.device_list
  return 'devices' in output ? output.devices : [output]
}

/** `Memory Physical Size: 12216.00 MiB`, somewhere between the lines of a table. */
function cardsInTable(text: string): Card[] {
  const sizes = [...text.matchAll(/Memory Physical Size:\s*(\d+(?:\.\d+)?) MiB/g)]
  return sizes.flatMap(([, size]) => card('Intel graphics', cardBytes(size, mebibyte)))
}

function card(name: string, bytes: number | null): Card[] {
  return bytes === null ? [] : [{ name, vendor: 'intel', bytes, memory: 'own' }]
}
