import { fstatSync } from 'node:fs'

/**
 * True when a standard stream is a terminal. Pipes and files are told apart without `node:tty`, which takes as long to
 * load as the rest of a short command does to run.
 */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    return false
  }
}
