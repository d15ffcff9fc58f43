import type { Host } from '../host.ts'

/** One thing that every plugin of a role must do. */
export interface Check {
  /** A sentence that goes on from the role: `offers nothing twice`. */
  name: string
  /** Rejects with why the plugin does not. */
  run(): Promise<void>
}

/** The plugin under check. */
export interface Subject {
  host: Host
  name: string
  options: unknown
}

/** Throws unless the condition holds. */
export function ensure(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(why)
}

/** Throws unless both are the same values. */
export function ensureSame(actual: unknown, expected: unknown, what: string): void {
  if (Bun.deepEquals(actual, expected)) return
  throw new Error(`${what}: ${short(actual)}, and not ${short(expected)}`)
}

/** What a promise rejects with; undefined when it does not. */
export async function failureOf(run: Promise<unknown>): Promise<unknown> {
  try {
    await run
    return undefined
  } catch (error) {
    return error
  }
}

function short(value: unknown): string {
  const text = Bun.inspect(value, { compact: true }).replaceAll('\n', ' ')
  return text.length > 300 ? `${text.slice(0, 299)}…` : text
}
