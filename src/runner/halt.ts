import type { Death } from '../api/hooks.ts'
import type { Halt } from '../machine/state.ts'
import { randomBytes } from '../system/digest.ts'
import type { Scene } from './scene.ts'

const consonants = 'bdfghjklmnprstvz'
const vowels = 'aeiou'

/** A halt's name: short enough to type, random enough that no two halts of a loop share it. */
export function newHaltId(): string {
  const bytes = [...randomBytes(8)]
  return bytes
    .map((byte, i) => (i % 2 === 0 ? consonants[byte % consonants.length] : vowels[byte % vowels.length]))
    .join('')
}

/** A halt as it goes into the state. */
export function makeHalt(reason: Death, detail: string, at: string, files: string[] = []): Halt {
  return { id: newHaltId(), reason, detail, at, files }
}

/** Halts a tick in its middle: its next session is not started. */
export class Halting extends Error {
  override readonly name = 'Halting'
  constructor(readonly halt: Halt) {
    super(halt.detail)
  }
}

/** What `run` answers, or what halted the tick before it could. */
export async function orHalting<T>(run: () => Promise<T>): Promise<T | Halting> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Halting) return error
    throw error
  }
}

/** Whether a halt is about something that was tampered with; such a record may have to mend the log that it joins. */
export function isTamper(halt: Halt | null): boolean {
  return halt?.detail.startsWith('tamper:') ?? false
}

/** The halt for what a session was caught at; null for an honest one. */
export function caughtAt(
  { deps }: Pick<Scene, 'deps'>,
  { tamper, primary }: { tamper: string[]; primary: string[] },
): Halt | null {
  const at = deps.clock.iso()
  if (tamper[0] !== undefined) return makeHalt('drift_detected', tamper[0], at, tamper)
  return primary.length > 0 ? makeHalt('drift_detected', 'primary checkout changed', at, primary) : null
}
