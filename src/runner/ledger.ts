import type { SessionReport } from '../api/harness.ts'
import type { Clock } from '../system/clock.ts'
import type { Spent } from './report.ts'

/** Adds up what a tick's sessions cost. */
export class Ledger {
  #usd = 0
  #tokens = 0
  #unreported = 0
  #sessions = 0
  readonly #from: number

  constructor(private readonly clock: Clock) {
    this.#from = clock.seconds()
  }

  /** Counts one ended session; a session that names no money makes the sum a lower bound. */
  add(usage: SessionReport['usage']): void {
    this.#usd += usage.usd ?? 0
    this.#tokens += usage.tokens ?? 0
    if (usage.usd === null) this.#unreported += 1
    this.#sessions += 1
  }

  /** How many sessions have ended. */
  get sessions(): number {
    return this.#sessions
  }

  /** What was spent up to now; `seconds` by the monotonic clock. */
  spent(): Spent {
    const seconds = Math.max(0, this.clock.seconds() - this.#from)
    return { usd: this.#usd, tokens: this.#tokens, reported: this.#unreported === 0, seconds }
  }

  /** The same in the shape of run.json, so that a tick that dies is charged. */
  usage(): { usd: number | null; tokens: number; unreported: number } {
    return { usd: this.#usd, tokens: this.#tokens, unreported: this.#unreported }
  }
}
