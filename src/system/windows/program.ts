import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errors } from '../../errors.ts'
import { which } from '../process.ts'
import { lineLength, longestLine, longestScriptLine, scriptLine } from './command-line.ts'
import { isScript, readShim } from './shim.ts'

/** A command as the system is to start it. */
export interface WindowsCommand {
  argv: string[]
  /** The words are not to be quoted again. */
  verbatim: boolean
}

/**
 * Looks through the command scripts that package managers install, to the program behind them: text that is handed to a
 * script is read by the command interpreter, which would run what it finds there. Another script is started only with
 * words that mean nothing to the interpreter. `path` is where a program of a shim is looked for.
 * Throws `cannot_run`.
 */
export function windowsCommand(argv: readonly string[], path: string): WindowsCommand {
  const [file = '', ...args] = argv
  const command = isScript(file)
    ? (throughShim(file, args, path) ?? byInterpreter(file, args))
    : { argv: [file, ...args], verbatim: false }
  const longest = command.verbatim ? longestScriptLine : longestLine
  if (lineLength(command.argv) <= longest) return command
  throw errors.cannotRun(
    file,
    `its arguments are too long (a command line holds at most ${longest} characters)`,
    'pass long text on standard input or in a file',
  )
}

const shimLimit = 64 << 10

function throughShim(file: string, args: string[], path: string): WindowsCommand | null {
  if (statSync(file).size > shimLimit) return null
  const shim = readShim(readFileSync(file, 'utf8'), dirname(file))
  if (!shim) return null
  const beside = which(join(dirname(file), shim.program), path)
  const program = beside ?? which(shim.program, path)
  if (program === null || isScript(program)) return null
  return { argv: [program, ...shim.args, ...args], verbatim: false }
}

function byInterpreter(file: string, args: string[]): WindowsCommand {
  const line = scriptLine(file, args)
  if (line === null)
    throw errors.cannotRun(
      file,
      'it is a command script, and an argument holds characters that the command interpreter would act on',
      'name the program that the script starts, or pass such text on standard input or in a file',
    )
  const interpreter = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'cmd.exe')
  return { argv: [interpreter, '/d', '/s', '/c', line], verbatim: true }
}
