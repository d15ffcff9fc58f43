import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The built binary; `npm test` builds it first. */
export const binary = process.env.TEST_AUTOMATON_BIN ?? join(import.meta.dir, '..', '..', 'dist', 'automaton')

/** How to call the binary. */
export interface CallOptions {
  cwd: string
  /** The test's own HOME; default `<cwd>/../home`, made when missing. */
  home?: string
  env?: Record<string, string>
  stdin?: string
  timeoutMs?: number
}

/** What a call of the binary did. */
export interface Call {
  code: number | null
  stdout: string
  stderr: string
  /** Standard output as JSON. */
  json(): Record<string, unknown>
}

/** The clean environment of a test's call: no variable of the developer's but PATH. */
export function callEnv(options: CallOptions): Record<string, string> {
  const home = options.home ?? join(options.cwd, '..', 'home')
  mkdirSync(home, { recursive: true })
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    AUTOMATON_HOME: join(home, '.automaton'),
    LANG: 'C.UTF-8',
    ...options.env,
  }
}

/** Runs the built binary to its end. */
export async function automaton(args: string[], options: CallOptions): Promise<Call> {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: npm run build`)
  const child = Bun.spawn([binary, ...args], {
    cwd: options.cwd,
    env: callEnv(options),
    stdin: options.stdin === undefined ? 'ignore' : new Blob([options.stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: options.timeoutMs ?? 60_000,
    killSignal: 'SIGKILL',
  })
  return readCall(child)
}

/** Reads what a call says until it ends. */
export async function readCall(child: Bun.Subprocess<Bun.Spawn.Writable, 'pipe', 'pipe'>): Promise<Call> {
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  return { code: child.exitCode, stdout, stderr, json: () => JSON.parse(stdout) }
}
