import { AutomatonError, type ExitCode, errors } from '../errors.ts'
import { advice } from './advice.ts'
import { hang } from './layout.ts'
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

/** The failure as one JSON object. */
export function failureJson({ code, message, fix, exit }: Failure): string {
  return `${JSON.stringify({ schema: 1, type: 'error', code, message, fix, exit })}\n`
}

/** The failure as two lines, and for a terminal of that many columns as lines that fit it. */
export function failureText(failure: Failure, width: number | null): string {
  const [message, fix] = [safeLine(failure.message), safeLine(failure.fix)]
  if (width === null) return `automaton: ${message}\n  fix: ${fix}\n`
  return `${[...hang('automaton: ', message, width), ...advice('  fix: ', fix, width)].join('\n')}\n`
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
