import { programFile } from './program.ts'

/** A program that tells a person something. */
export interface Telling {
  argv: string[]
  stdin?: string
  /** Variables to add. */
  env?: Record<string, string>
  seconds: number
}

/** Runs a program to its end, and not longer than it may take. Rejects when it fails; what it prints is nobody's. */
export async function tellBy({ argv, stdin, env, seconds }: Telling): Promise<void> {
  const [program = '', ...rest] = argv
  const windows = process.platform === 'win32'
  const file = programFile(program, process.env.PATH ?? '', { windows })
  if (file === null) throw new Error(`${program} is no program in a folder of PATH`)
  const child = Bun.spawn([file, ...rest], {
    stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
    stdout: 'ignore',
    stderr: 'ignore',
    // The root folder: a relative path in the arguments must not mean a file that a session wrote.
    cwd: windows ? `${process.env.SystemDrive ?? 'C:'}\\` : '/',
    ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
    timeout: seconds * 1000,
    killSignal: 'SIGKILL',
    windowsHide: true,
  })
  const code = await child.exited
  if (child.signalCode !== null) throw new Error(`${program} did not end within ${seconds} s`)
  if (code !== 0) throw new Error(`${program} exited with ${code}`)
}
