import { AutomatonError, type ExitCode, errors } from '../errors.ts'
import { safeLine } from './safe.ts'

/** A fatal error as it is shown. */
export interface Failure {
  code: string
  message: string
  fix: string
  exit: ExitCode
}

/** What an error that reached the edge is shown as. Anything that is not in the catalogue is a bug of automaton's. */
export function failureOf(error: unknown, command: string): Failure {
  if (error instanceof AutomatonError) {
    const { code, message, fix, exit } = error
    return { code, message, fix, exit }
  }
  const system = systemFailure(error)
  if (system) return failureOf(system, command)
  const what = error instanceof Error ? error.message : String(error)
  const fix = 'run it again with AUTOMATON_DEBUG=1 and report what it prints'
  return { code: 'bug', message: `a bug in automaton (${command}): ${what}`, fix, exit: 1 }
}

/** The failure as lines for people, or as one JSON object. */
export function failureText(failure: Failure, json: boolean): string {
  if (json) {
    const { code, message, fix, exit } = failure
    return `${JSON.stringify({ schema: 1, type: 'error', code, message, fix, exit })}\n`
  }
  return `automaton: ${safeLine(failure.message)}\n  fix: ${safeLine(failure.fix)}\n`
}

/** What the system refused, such as a full disk, is the environment's fault and not a bug. */
function systemFailure(error: unknown): AutomatonError | null {
  if (!(error instanceof Error)) return null
  if (!('code' in error)) return systemFailure(error.cause)
  const why = systemReasons[String(error.code)]
  if (!why) return null
  const path = 'path' in error ? String(error.path) : error.message
  return errors.writeFailed(path, why, error)
}

const systemReasons: Record<string, string> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  // What Bun makes of any error that it does not know while it removes a folder.
  EFAULT: 'the system refused',
  EFBIG: 'it would be larger than this process may write',
  EIO: 'the disk reports an error',
  EMFILE: 'too many open files',
  ENFILE: 'too many files are open on this machine',
  ENOSPC: 'no space left on the device',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
}
