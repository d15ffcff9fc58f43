import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Terminal } from '../app.ts'
import { write } from './output.ts'
import { isTerminal } from './tty.ts'

/**
 * The person's terminal. Answers are read from the terminal itself and never from standard input, so that a pipe
 * cannot answer; that is a hurdle, not a wall.
 */
export function openTerminal(): Terminal {
  const device = process.platform === 'win32' ? '\\\\.\\CON' : '/dev/tty'
  return {
    get interactive() {
      return isTerminal(0) && isTerminal(2) && opens(device)
    },
    describe: () => ({ user: userName(), tty: isTerminal(0) ? ttyName() : null }),
    ask: async (question) => {
      write(2, question)
      return readLine(device)
    },
  }
}

function opens(device: string): boolean {
  try {
    closeSync(openSync(device, 'r'))
    return true
  } catch {
    return false
  }
}

/** One line, read in a blocking way: nothing else goes on, and Ctrl-C ends the program as it should. */
function readLine(device: string): string {
  const fd = openSync(device, 'r')
  try {
    const buffer = Buffer.alloc(4096)
    let text = ''
    while (!text.includes('\n')) {
      const got = readSync(fd, buffer)
      if (got === 0) break
      text += buffer.toString('utf8', 0, got)
    }
    return text.split('\n', 1)[0]?.trim() ?? ''
  } finally {
    closeSync(fd)
  }
}

function ttyName(): string | null {
  try {
    return readlinkSync('/proc/self/fd/0')
  } catch {
    return 'tty'
  }
}

/** By the process's id, as far as the system's list has it: variables say what anybody likes. */
function userName(): string {
  const { uid, username } = userInfo()
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.split(':')[2] === String(uid))
    if (line) return line.slice(0, line.indexOf(':'))
  } catch {
    // There is no such list here.
  }
  return username !== 'unknown' ? username : `uid ${uid}`
}
