/** A program that tells a person something. */
export interface Telling {
  argv: string[]
  stdin?: string
  cwd?: string
  /** Variables to add. */
  env?: Record<string, string>
  seconds: number
}

/** Runs a program to its end, and not longer than it may take. Rejects when it fails; what it prints is nobody's. */
export async function tellBy({ argv, stdin, cwd, env, seconds }: Telling): Promise<void> {
  const [program = ''] = argv
  const child = Bun.spawn(argv, {
    stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
    stdout: 'ignore',
    stderr: 'ignore',
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
    timeout: seconds * 1000,
    killSignal: 'SIGKILL',
  })
  const code = await child.exited
  if (child.signalCode !== null) throw new Error(`${program} did not end within ${seconds} s`)
  if (code !== 0) throw new Error(`${program} exited with ${code}`)
}
