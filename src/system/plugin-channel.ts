import { dieWithParent, setUndumpable } from './native.ts'

/** The way back to the process that started this one as a plugin's process. */
export interface PluginChannel {
  send(message: unknown): void
  onMessage(take: (message: unknown) => void): void
  /** What nobody waited for: a late throw, a rejection without a handler. */
  onStray(take: (error: unknown) => void): void
}

/** True when this process was started with a channel. */
export function hasPluginChannel(): boolean {
  return process.send !== undefined
}

/** Takes hold of the channel before a plugin can. From here on this process ends with its parent, and not by itself. */
export function openPluginChannel(): PluginChannel {
  const send = process.send?.bind(process)
  if (!send) throw new Error('there is no channel')
  setUndumpable()
  dieWithParent()
  // The parent decides what an interruption means.
  process.on('SIGINT', () => {})
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  return {
    send: (message) => void send(message),
    onMessage: (take) => void process.on('message', take),
    onStray(take) {
      process.on('uncaughtException', take)
      process.on('unhandledRejection', take)
    },
  }
}
