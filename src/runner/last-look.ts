import { sha256 } from '../system/digest.ts'
import type { PrimaryRecord } from '../system/primary.ts'
import type { RepositoryRecord } from '../system/tripwire.ts'
import type { BrakeRecord } from './brakewire.ts'
import type { Footing } from './footing.ts'

/** How far each other loop of the project had come, by `seq` of its state; -1 where there was none. */
export type OtherLoops = ReadonlyMap<string, number | 'running'>

/** What one look saw of what sessions must leave alone. */
export interface Seen {
  brakes: BrakeRecord
  footing: Footing
  /** Null without git. */
  repository: RepositoryRecord | null
  /** The uncommitted files of the person's checkout; null where sessions work in it, and without git. */
  primary: PrimaryRecord | null
  /** The other loops before the look, and after it: a loop that ticks meanwhile did so on both sides. */
  loops: { before: OtherLoops; after: OtherLoops }
}

/**
 * A tick's last look. The next one is compared with it, whatever lies between them: a process that outlived its session
 * could wait for the moment in which nobody looks.
 */
export class LastLook {
  seen: Seen | null = null

  /** Automaton itself has just written this brake file. */
  wrote(name: string, text: string): void {
    if (this.seen) this.seen = { ...this.seen, brakes: { ...this.seen.brakes, [name]: sha256(text) } }
  }
}
