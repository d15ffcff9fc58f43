import { AutomatonError, exitCodes } from '../errors.ts'
import { alarm } from '../system/alarm.ts'
import {
  type PluginProcess,
  type PluginProcessOptions,
  startPluginProcess,
} from '../system/plugin-process.ts'
import { messageOf, readMessage, type WireError, type WireMessage } from './wire.ts'

/** Where and how a plugin's process is started. */
export interface LinkOptions extends Pick<PluginProcessOptions, 'argv' | 'cwd' | 'env'> {
  /** What the plugin prints and logs, for a person who watches. */
  log(line: string): void
  /** Milliseconds after which a plugin that does not yield is given up. */
  blockMs: number
}

/** One call into the plugin's process. */
export interface LinkCall {
  method: string
  args: readonly unknown[]
  limitMs: number
  /** Aborted when the tick is interrupted; then the process is ended. */
  signal?: AbortSignal
  /** Functions that the plugin may call meanwhile. */
  lend?: ReadonlyMap<string, (...args: unknown[]) => unknown>
  /** Where what it logs meanwhile goes; default: the link's own log. */
  log?(line: string): void
}

interface Pending {
  resolve(value: unknown): void
  reject(error: unknown): void
  call: LinkCall
  /** Errors of what was lent, by the number of the request, so that they come back as they were. */
  lent: Map<number, unknown>
  /** Requests that are being answered; each has a limit of its own, so that the call's time starts again after it. */
  open: number
  waited: boolean
}

/** The connection to one plugin's process. When a call takes too long, the process is ended: nothing else stops code that never yields. */
export class Link {
  readonly #process: PluginProcess
  readonly #pending = new Map<number, Pending>()
  readonly #options: LinkOptions
  #last = 0
  #dead: string | null = null
  readonly #watch: { restart(): void; stop(): void }

  constructor(options: LinkOptions) {
    this.#options = options
    this.#watch = watchdog({
      blockMs: options.blockMs,
      ping: () => this.#send({ kind: 'ping' }),
      isBusy: () => this.#pending.size > 0,
      give: () => this.#end(`it did not yield for ${options.blockMs / 1000} seconds`),
    })
    this.#process = startPluginProcess({
      argv: options.argv,
      cwd: options.cwd,
      env: options.env,
      onMessage: (message) => this.#take(message),
      onLine: options.log,
    })
    void this.#process.ended.then((why) => this.#end(why))
  }

  /** Why it can be called no more; null while it can. */
  get dead(): string | null {
    return this.#dead
  }

  /** Asks for one thing. Rejects with what the plugin threw, or why its process ended. */
  async call(call: LinkCall): Promise<unknown> {
    call.signal?.throwIfAborted()
    if (this.#dead !== null) throw new Error(this.#dead)
    this.#last += 1
    const id = this.#last
    const answer = Promise.withResolvers<unknown>()
    const pending: Pending = { ...answer, call, lent: new Map(), open: 0, waited: false }
    this.#pending.set(id, pending)
    const late = () => {
      if (pending.open === 0 && !pending.waited)
        return this.#end(`no answer within ${call.limitMs / 1000} seconds`)
      pending.waited = false
      limit = alarm(call.limitMs, late)
    }
    let limit = alarm(call.limitMs, late)
    const onAbort = () => this.#end('the tick was interrupted')
    call.signal?.addEventListener('abort', onAbort)
    try {
      this.#watch.restart()
      this.#send({ kind: 'ask', id, method: call.method, args: [...call.args], within: 0 })
      return await answer.promise
    } finally {
      limit.cancel()
      call.signal?.removeEventListener('abort', onAbort)
      this.#pending.delete(id)
    }
  }

  /** Ends the process. */
  close(): void {
    this.#end('it was ended')
  }

  #send(message: WireMessage): void {
    if (this.#dead === null) this.#process.send(message)
  }

  #end(why: string): void {
    if (this.#dead !== null) return
    this.#dead = why
    this.#watch.stop()
    this.#process.kill()
    for (const { reject } of this.#pending.values()) reject(new Error(why))
  }

  #take(raw: unknown): void {
    const message = readMessage(raw)
    if (!message || this.#dead !== null) return
    this.#watch.restart()
    switch (message.kind) {
      case 'answer':
        this.#pending.get(message.id)?.resolve(message.value)
        break
      case 'failure': {
        const pending = this.#pending.get(message.id)
        pending?.reject(errorOf(message.error, pending.lent))
        break
      }
      case 'ask':
        void this.#lend(message)
        break
      case 'log': {
        const { log = this.#options.log } = this.#pending.get(message.within)?.call ?? {}
        log(message.line)
        break
      }
      case 'stray':
        if (this.#pending.size === 0) this.#options.log(`it failed after its answer: ${message.why}`)
        this.#end(message.why)
        break
      default:
        break
    }
  }

  /** The plugin calls something that the call has lent to it. */
  async #lend({ id, method, args, within }: WireMessage & { kind: 'ask' }): Promise<void> {
    const pending = this.#pending.get(within)
    try {
      const lent = pending?.call.lend?.get(method)
      if (!pending || !lent) throw new Error(`${method} can be called no more: its call has ended`)
      pending.open += 1
      this.#send({ kind: 'answer', id, value: await lent(...args) })
    } catch (error) {
      pending?.lent.set(id, error)
      this.#send({ kind: 'failure', id, error: { message: messageOf(error), lent: id } })
    } finally {
      if (pending) Object.assign(pending, { open: Math.max(0, pending.open - 1), waited: true })
    }
  }
}

/**
 * While calls are open the process has to show that it lives. Beats are counted and not time: a machine that slept, or
 * this process at work, says nothing about the plugin.
 */
function watchdog(o: { blockMs: number; ping(): void; isBusy(): boolean; give(): void }) {
  const every = Math.min(1000, o.blockMs / 4)
  let silent = 0
  const timer = setInterval(() => {
    if (!o.isBusy()) return
    silent += 1
    if (silent * every > o.blockMs) o.give()
    else o.ping()
  }, every)
  timer.unref()
  return {
    restart() {
      silent = 0
    },
    stop: () => clearInterval(timer),
  }
}

function errorOf({ message, known, lent }: WireError, errors: ReadonlyMap<number, unknown>): unknown {
  if (lent !== undefined && errors.has(lent)) return errors.get(lent)
  if (known) return new AutomatonError(known.code, message, known.fix, exitCodes.environment)
  return new Error(message)
}
