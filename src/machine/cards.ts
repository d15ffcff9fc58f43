/** Who made a card. */
export type Vendor = 'nvidia' | 'amd' | 'intel' | 'apple' | 'other'

/** One graphics card, as a probe saw it. */
export interface Card {
  name: string
  vendor: Vendor
  /** Memory that a model on it can have, whole bytes. */
  bytes: number
  /** `own`: memory of the card alone. `shared`: part of the machine's memory. */
  memory: 'own' | 'shared'
  /** Of shared memory: the part set aside at boot, which the vendor's tools take for a card's own. */
  setAside?: number
}

/** What one probe found; probes stand in the order in which they are believed. */
export interface Finding {
  probe: string
  cards: readonly Card[]
}

/** What is known of this machine's memory for models. */
export interface Detection {
  /** Bytes of the largest card, never a sum; null: unknown. */
  bytes: number | null
  /** The probe that found it. */
  source: string | null
  device: string | null
  memory: Card['memory'] | null
  /** What each probe said, in the order in which they are believed. */
  tried: { probe: string; outcome: string }[]
  /** When, ISO-8601 UTC. */
  at: string
}

/** Less is no card of today, but a number in another unit. */
const leastBytes = 64 * 2 ** 20
/** More is no card of tomorrow either. */
const mostBytes = 64 * 2 ** 40

/**
 * The one card that a model would run on: one with memory of its own before one that shares the machine's, then the
 * largest. Of each vendor's probes the first that found something is believed.
 */
export function chooseCard(findings: readonly Finding[]): { card: Card; probe: string } | null {
  const shared = findings.flatMap(({ cards }) => cards.filter(({ memory }) => memory === 'shared'))
  const isShared = ({ memory, bytes, vendor }: Card) =>
    memory === 'own' &&
    shared.some((one) => one.vendor === vendor && one.setAside !== undefined && isNear(one.setAside, bytes))
  const believed = new Map<Vendor, string>()
  const candidates = findings.flatMap(({ probe, cards }) =>
    cards.flatMap((card) => {
      if (isShared(card)) return []
      if (card.memory === 'shared' && card.setAside !== undefined) return [{ card, probe }]
      if (!believed.has(card.vendor)) believed.set(card.vendor, probe)
      return believed.get(card.vendor) === probe ? [{ card, probe }] : []
    }),
  )
  const rank = ({ memory }: Card) => (memory === 'own' ? 0 : 1)
  candidates.sort((a, b) => rank(a.card) - rank(b.card) || b.card.bytes - a.card.bytes)
  return candidates[0] ?? null
}

/** A size in bytes out of a number and its unit's bytes; null for what cannot be a card's: nothing, too little, no number. */
export function cardBytes(amount: unknown, unit: number): number | null {
  const text = typeof amount === 'number' ? String(amount) : amount
  if (typeof text !== 'string' || !/^\d{1,20}(?:\.\d{1,6})?$/.test(text.trim())) return null
  const bytes = Math.floor(Number(text) * unit)
  return bytes >= leastBytes && bytes <= mostBytes ? bytes : null
}

/** Bytes of a mebibyte, in which most tools count. */
export const mebibyte = 2 ** 20

/** Bytes of the units that tools write; theirs are powers of two, also where they leave the `i` out. */
export function unitBytes(unit: string): number | null {
  return unitSizes[unit.trim().toLowerCase().replace('ib', 'b')] ?? null
}

const unitSizes: Record<string, number> = {
  b: 1,
  bytes: 1,
  kb: 2 ** 10,
  mb: mebibyte,
  gb: 2 ** 30,
  tb: 2 ** 40,
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= 0.03 * Math.max(a, b)
}
