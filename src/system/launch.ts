import { closeSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { errors } from '../errors.ts'
import { isWindows } from './platform.ts'
import { openPipe } from './posix.ts'
import { which } from './process.ts'
import { ownJob } from './windows/job.ts'
import { windowsCommand } from './windows/program.ts'

/** What to start. */
export interface LaunchOptions {
  /** The program (a name on PATH, an absolute path, or a path with a slash relative to `cwd`) and its arguments. */
  argv: readonly string[]
  cwd: string
  /** The whole environment of the program. Its PATH is the one that the program is looked for in. */
  env: Readonly<Record<string, string>>
  /** What standard input holds, which ends after it; absent: /dev/null. */
  stdin?: string
  /** A file to be standard input, instead: it is there whole, also when this process dies before the program has read it. */
  stdinFile?: string
}

/** A program that was started, and what it prints. */
export interface Launched {
  child: Bun.Subprocess
  stdout: Output
  stderr: Output
}

/** One output stream of a program. */
export interface Output {
  stream: ReadableStream<Uint8Array>
  /** Gives back what the stream holds of the system. The stream must not be read any more. */
  close(): void
}

/**
 * Starts a program without a shell, in a session and process group of its own.
 * Throws `usage`, `folder_missing`, `command_not_found` or `cannot_run`, each naming what was really wrong.
 */
export function launch(options: LaunchOptions): Launched {
  const { argv, verbatim } = commandOf(options)
  // It is born into this process's job, so that nothing that it starts at once gets away.
  if (isWindows) ownJob()
  const stdout = openOutput()
  const stderr = openOutput()
  try {
    const child = Bun.spawn(argv, {
      cwd: options.cwd,
      env: options.env,
      stdin: inputOf(options),
      stdout: stdout.target,
      stderr: stderr.target,
      // On Windows it would have no console at all, and each of its programs would open a window.
      detached: !isWindows,
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    })
    return { child, stdout: stdout.attach(child.stdout), stderr: stderr.attach(child.stderr) }
  } catch (error) {
    stdout.abandon()
    stderr.abandon()
    throw explain(options.argv[0] ?? '', error)
  } finally {
    // The program has its own copy; with this one open the stream would never end.
    stdout.handedOver()
    stderr.handedOver()
  }
}

function inputOf({ stdin, stdinFile }: LaunchOptions) {
  if (stdinFile !== undefined) return Bun.file(stdinFile)
  return stdin ? new Blob([stdin]) : 'ignore'
}

function commandOf(options: LaunchOptions): { argv: string[]; verbatim: boolean } {
  const argv = [findProgram(options), ...options.argv.slice(1)]
  return isWindows ? windowsCommand(argv, pathOf(options)) : { argv, verbatim: false }
}

function pathOf({ env }: LaunchOptions): string {
  return env.PATH ?? env.Path ?? ''
}

/** The system blames the program when the folder is missing, and the file when its interpreter is: both are looked at first. */
function findProgram(options: LaunchOptions): string {
  const { argv, cwd, env } = options
  const program = argv[0]
  if (!program) throw errors.usage('empty command', 'there is no program to run', 'name a program')
  const named = [...argv, cwd, ...Object.entries(env).flat()].find((text) => text.includes('\0'))
  if (named !== undefined) {
    const shown = JSON.stringify(named.slice(0, 60))
    throw errors.usage(
      `bad argument (${program})`,
      `${shown} holds a NUL character`,
      'take the NUL character out',
    )
  }
  if (!isFolder(cwd)) throw errors.folderMissing(cwd, `${program} was to run in it`)
  const path = pathOf(options)
  const fromFolder = !isAbsolute(program) && /[\\/]/.test(program)
  const found = which(fromFolder ? resolve(cwd, program) : program, path)
  if (found !== null) return found
  if (!fromFolder && !isAbsolute(program)) throw errors.commandNotFound(program, path)
  throw notRunnable(resolve(cwd, program))
}

function notRunnable(file: string) {
  if (isFolder(file)) return errors.cannotRun(file, 'it is a folder', 'name the program in it')
  try {
    statSync(file)
  } catch {
    return errors.cannotRun(file, 'there is no such file', 'correct the path, or install the program')
  }
  return errors.cannotRun(file, 'it is not executable', `chmod +x ${file}`)
}

function explain(program: string, error: unknown): Error {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOEXEC')
    return errors.cannotRun(
      program,
      'it is neither a binary for this machine nor a script with a #! line',
      'give its first line an interpreter, such as #!/bin/sh',
    )
  if (code === 'ENOENT')
    return errors.cannotRun(
      program,
      'the interpreter in its first line does not exist',
      'install the interpreter, or correct the #! line',
    )
  if (code === 'E2BIG')
    return errors.cannotRun(
      program,
      'its arguments and environment are too long (one argument holds at most 131,071 bytes)',
      'pass long text on standard input or in a file',
    )
  if (code === 'EACCES')
    return errors.cannotRun(program, 'permission denied', `look at the permissions: ls -l ${program}`)
  return errors.cannotRun(program, error instanceof Error ? error.message : String(error), 'automaton doctor')
}

function openOutput() {
  const pipe = openPipe()
  return {
    target: pipe ? pipe.write : ('pipe' as const),
    attach(piped: unknown): Output {
      if (!pipe) return { stream: piped as ReadableStream<Uint8Array>, close: () => {} }
      return { stream: Bun.file(pipe.read).stream(), close: () => closeSync(pipe.read) }
    },
    abandon() {
      if (pipe) closeSync(pipe.read)
    },
    handedOver() {
      if (pipe) closeSync(pipe.write)
    },
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
