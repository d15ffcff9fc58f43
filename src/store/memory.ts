import { join } from 'node:path'
import * as v from 'valibot'
import { readBounded, writeAtomic } from './atomic.ts'
import type { LoopPlaces } from './layout.ts'

/** What one verifier keeps from tick to tick. */
export type Kept = Record<string, string | number | boolean>

/** `memory.json`: what the verifiers of a loop keep, for one commit that its branch starts from. */
export interface Memory {
  schema: 1
  base: string | null
  verifiers: Record<string, Kept>
}

const MemorySchema = v.strictObject({
  schema: v.literal(1),
  base: v.nullable(v.string()),
  verifiers: v.record(
    v.string(),
    v.record(v.string(), v.union([v.string(), v.pipe(v.number(), v.finite()), v.boolean()])),
  ),
})

const largest = 1 << 20

/** Where it lies. */
export function memoryFile(places: LoopPlaces): string {
  return join(places.dir, 'memory.json')
}

/** What is kept for this base. Nothing where there is no file, where it cannot be read, or where the base has moved. */
export function readMemory(places: LoopPlaces, base: string | null): Memory {
  const nothing: Memory = { schema: 1, base, verifiers: {} }
  try {
    const text = readBounded(memoryFile(places), largest)
    const read = v.safeParse(MemorySchema, text === null ? null : JSON.parse(text))
    return read.success && read.output.base === base ? read.output : nothing
  } catch {
    return nothing
  }
}

/** Writes it down. The caller holds the loop's lock. */
export function writeMemory(places: LoopPlaces, memory: Memory): void {
  writeAtomic(memoryFile(places), `${JSON.stringify(memory, null, 2)}\n`)
}
