import * as v from 'valibot'

/** An error on its way to the other process. */
export interface WireError {
  message: string
  /** An error of the catalogue, whole: its message names plugin and stage already. */
  known?: { code: string; fix: string } | undefined
  /** The number of the request whose error it is, handed on by the plugin that it was given to. */
  lent?: number | undefined
}

/**
 * What the two processes say to each other. Either side may ask; `within` is the call that a request of the plugin's
 * side belongs to.
 */
export type WireMessage =
  | { kind: 'ask'; id: number; method: string; args: unknown[]; within: number }
  | { kind: 'answer'; id: number; value?: unknown }
  | { kind: 'failure'; id: number; error: WireError }
  | { kind: 'log'; within: number; line: string }
  | { kind: 'stray'; why: string }
  | { kind: 'ping' }
  | { kind: 'pong' }

const id = v.number()
const error = v.object({
  message: v.string(),
  known: v.optional(v.object({ code: v.string(), fix: v.string() })),
  lent: v.optional(v.number()),
})

const shape: v.GenericSchema<unknown, WireMessage> = v.variant('kind', [
  v.object({ kind: v.literal('ask'), id, method: v.string(), args: v.array(v.unknown()), within: id }),
  v.object({ kind: v.literal('answer'), id, value: v.optional(v.unknown()) }),
  v.object({ kind: v.literal('failure'), id, error }),
  v.object({ kind: v.literal('log'), within: id, line: v.string() }),
  v.object({ kind: v.literal('stray'), why: v.string() }),
  v.object({ kind: v.literal('ping') }),
  v.object({ kind: v.literal('pong') }),
])

/** A message of the other side; null for what is none. */
export function readMessage(message: unknown): WireMessage | null {
  const parsed = v.safeParse(shape, message)
  return parsed.success ? parsed.output : null
}

/** What was thrown, in words. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name
  return typeof error === 'string' ? error : `it threw ${Bun.inspect(error).slice(0, 200)}`
}
