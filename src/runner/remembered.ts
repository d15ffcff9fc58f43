import { fingerprint } from '../api/fingerprint.ts'
import { type Kept, readMemory, writeMemory } from '../store/memory.ts'
import type { Scene, Site } from './scene.ts'

/** What one verifier remembers. */
export interface Recall {
  values: Readonly<Kept>
  keep(values: Readonly<Kept>, ifPassed: boolean): void
}

const mostValues = 100
const longestText = 4000

/** The verifiers' memory of one tick: read before the first of them, written when the tick has settled. */
export class Remembered {
  readonly #base: string | null
  readonly #staged: { verifier: string; values: Readonly<Kept>; ifPassed: boolean }[] = []
  readonly #before

  constructor(
    private readonly scene: Scene,
    { base }: Site,
  ) {
    this.#base = base
    this.#before = readMemory(scene.places, base)
  }

  /** The memory of a verifier with these options. */
  of(use: string, options: unknown): Recall {
    const verifier = `${use}-${fingerprint(use, JSON.stringify(options ?? {})).slice(0, 12)}`
    return {
      values: { ...this.#before.verifiers[verifier] },
      keep: (values, ifPassed) => {
        checkValues(values)
        this.#staged.push({ verifier, values, ifPassed })
      },
    }
  }

  /** Writes down what was kept, if anything was. */
  write(passed: boolean): void {
    const kept = this.#staged.filter(({ ifPassed }) => passed || !ifPassed)
    if (kept.length === 0) return
    const verifiers = { ...this.#before.verifiers }
    for (const { verifier, values } of kept) verifiers[verifier] = { ...verifiers[verifier], ...values }
    writeMemory(this.scene.places, { schema: 1, base: this.#base, verifiers })
  }
}

function checkValues(values: Readonly<Kept>): void {
  const entries = Object.entries(values)
  if (entries.length > mostValues) throw new Error(`remember takes at most ${mostValues} values`)
  for (const [key, value] of entries) {
    const isGood =
      typeof value === 'boolean' ||
      (typeof value === 'number' && Number.isFinite(value)) ||
      (typeof value === 'string' && value.length <= longestText)
    if (!isGood)
      throw new Error(`remember cannot keep ${key}: a short text, a finite number or a boolean is expected`)
  }
}
