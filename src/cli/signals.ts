import { constants } from 'node:os'
import { type ExitCode, exitCodes } from '../errors.ts'
import { write } from './output.ts'
import { isTerminal } from './tty.ts'

/** The signals that ask automaton to stop. */
export interface Signals {
  /** Aborted at the first of them. Handlers are installed when it is first asked for. */
  readonly signal: AbortSignal
  /** The exit code of the signal that came, or null. */
  exit(): ExitCode | null
}

/** Windows knows Ctrl-C, Ctrl-Break and the end of the console; its SIGTERM ends a process without a word. */
const watched = (
  process.platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM', 'SIGHUP']
) satisfies NodeJS.Signals[]

/**
 * Watches for signals once a verb that waits asks for it. Any other verb dies of them at once, as programs do; that is
 * safe because every file is replaced in one step. A second signal ends a watching verb at once, too.
 */
export function watchSignals(): Signals {
  let controller: AbortController | undefined
  let came: NodeJS.Signals | null = null
  const receive = (name: NodeJS.Signals) => {
    if (came) process.exit(128 + constants.signals[name])
    came = name
    // The terminal has shown ^C: what is told from now on begins on a line of its own.
    if (name === 'SIGINT' && isTerminal(2)) write(2, '\n')
    controller?.abort(new DOMException(`interrupted by ${name}`, 'AbortError'))
  }
  return {
    get signal() {
      if (!controller) {
        controller = new AbortController()
        for (const name of watched) process.on(name, () => receive(name))
      }
      return controller.signal
    },
    exit: () => (came === null ? null : came === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated),
  }
}
