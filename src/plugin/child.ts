import { AutomatonError } from '../errors.ts'
import { openPluginChannel } from '../system/plugin-channel.ts'
import { ChildPlugin } from './child-plugin.ts'
import { Lender } from './lender.ts'
import { messageOf, readMessage, type WireError } from './wire.ts'

/** Runs one plugin for the process at the other end of the channel, until that one ends. */
export function runPluginProcess(): void {
  const channel = openPluginChannel()
  const lender = new Lender((message) => channel.send(message))
  const plugin = new ChildPlugin(lender)
  channel.onStray((error) => channel.send({ kind: 'stray', why: messageOf(error) }))
  channel.onMessage((raw) => {
    const message = readMessage(raw)
    switch (message?.kind) {
      case 'ping':
        return channel.send({ kind: 'pong' })
      case 'answer':
      case 'failure':
        return lender.take(message)
      case 'ask':
        return void serve(message.id, () => plugin.run(message.id, message.method, message.args))
      default:
        return
    }
  })

  async function serve(id: number, run: () => Promise<unknown>): Promise<void> {
    try {
      const value = await run()
      // One turn later, so that what fails right behind the answer still counts as this call's.
      await Bun.sleep(2)
      answer(id, value)
    } catch (error) {
      channel.send({ kind: 'failure', id, error: wireError(error, lender) })
    }
  }

  function answer(id: number, value: unknown): void {
    try {
      channel.send({ kind: 'answer', id, value })
    } catch (error) {
      throw new Error(`its answer cannot be handed over: ${messageOf(error)}`)
    }
  }
}

function wireError(error: unknown, lender: Lender): WireError {
  const lent = lender.numberOf(error)
  if (lent !== undefined) return { message: messageOf(error), lent }
  if (!(error instanceof AutomatonError)) return { message: messageOf(error) }
  return { message: error.message, known: { code: error.code, fix: error.fix } }
}
