import * as v from 'valibot'
import { type Card, cardBytes, unitBytes } from '../../machine/cards.ts'
import { jsonIn, lookAt, notInstalled } from './look.ts'
import type { Probe } from './tools.ts'

/** AMD's cards, by its newer program. */
export const amdSmi: Probe = {
  name: 'amd-smi',
  async look(tools) {
    const run = tools.program('amd-smi')
    if (!run) return notInstalled
    const used = await run(['metric', '--mem-usage', '--json'])
    const cards = used.failure === null ? amdSmiCards(used.text) : []
    if (cards.length > 0) return lookAt(cards, used)
    const fixed = await run(['static', '--vram', '--json'])
    return lookAt(fixed.failure === null ? amdSmiCards(fixed.text) : [], fixed)
  },
}

/** The cards in the answer of `metric --mem-usage --json`, `static --vram --json`, or either of them in words. */
export function amdSmiCards(text: string): Card[] {
  const parsed = v.safeParse(answer, jsonIn(text))
  if (!parsed.success) return sizesInWords(text)
  const gpus = 'gpu_data' in parsed.output ? parsed.output.gpu_data : parsed.output
  return gpus.flatMap(({ gpu, mem_usage, vram }) => card(gpu, mem_usage?.total_vram ?? vram?.size))
}

/** A value with its unit, a bare text such as `64289 MB`, or `N/A`. */
const size = v.union([v.object({ value: v.union([v.number(), v.string()]), unit: v.string() }), v.string()])
const gpus = v.array(
  v.object({
    gpu: v.optional(v.union([v.number(), v.string()]), 0),
    mem_usage: v.optional(v.object({ total_vram: v.optional(size) })),
    vram: v.optional(v.object({ size: v.optional(size) })),
  }),
)
const answer = v.union([gpus, v.object({ gpu_data: gpus })])

function card(gpu: number | string, amount: v.InferOutput<typeof size> | undefined): Card[] {
  const [value, unit] =
    typeof amount === 'object' ? [amount.value, amount.unit] : (amount?.trim().split(/\s+/) ?? [])
  const bytes = cardBytes(value, unitBytes(unit ?? '') ?? 0)
  return bytes === null ? [] : [{ name: `AMD GPU ${gpu}`, vendor: 'amd', bytes, memory: 'own' }]
}

/** `SIZE: 64289 MB`, `TOTAL_VRAM: 65536 MB`. */
function sizesInWords(text: string): Card[] {
  const sizes = [...text.matchAll(/^[ \t]*(?:SIZE|TOTAL_VRAM):[ \t]*(\d+ \w+)[ \t]*$/gm)]
  return sizes.flatMap(([, amount], index) => card(index, amount))
}
