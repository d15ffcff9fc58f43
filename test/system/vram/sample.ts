import type { Card } from '../../../src/machine/cards.ts'

/** What a tool printed on a real machine, reduced to what matters, or a shape that its failures have. */
export interface Sample {
  what: string
  read(text: string): Card[]
  text: string
  /** Name, bytes, and whether the memory is shared; none: unknown. */
  cards: [name: string, bytes: number, shared?: 'shared'][]
}

/** Bytes of a mebibyte and a gibibyte. */
export const mib = 2 ** 20
export const gib = 2 ** 30

/** `MemTotal` of a DGX Spark. */
export const sparkMemory = 127_600_748 * 1024
