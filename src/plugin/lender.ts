import type { WireMessage } from './wire.ts'

/** What a plugin's context lends it, called across the channel. */
export class Lender {
  readonly #send: (message: WireMessage) => void
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #numbers = new WeakMap<object, number>()
  #last = 0

  constructor(send: (message: WireMessage) => void) {
    this.#send = send
  }

  /** Calls a lent function. Rejects with an error that is known again when the plugin lets it pass. */
  ask(within: number, method: string, args: unknown[]): Promise<unknown> {
    this.#last += 1
    const id = this.#last
    const answer = Promise.withResolvers<unknown>()
    this.#open.set(id, answer)
    this.#send({ kind: 'ask', id, method, args, within })
    return answer.promise
  }

  log(within: number, line: unknown): void {
    this.#send({ kind: 'log', within, line: String(line) })
  }

  take(message: WireMessage & { kind: 'answer' | 'failure' }): void {
    const answer = this.#open.get(message.id)
    this.#open.delete(message.id)
    if (message.kind === 'failure') {
      const error = new Error(message.error.message)
      this.#numbers.set(error, message.id)
      answer?.reject(error)
    } else answer?.resolve(message.value)
  }

  /** The number of the request that failed with this very error. */
  numberOf(error: unknown): number | undefined {
    return typeof error === 'object' && error !== null ? this.#numbers.get(error) : undefined
  }
}
