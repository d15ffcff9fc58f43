import { tmpdir } from 'node:os'
import { delimiter, isAbsolute, parse } from 'node:path'
import { errors } from '../errors.ts'
import { which } from './process.ts'

/** A call of git that reaches a remote, with the person's own settings and keys. */
export interface PersonGitOptions {
  /** The person's environment. */
  env: Readonly<Record<string, string | undefined>>
  /** The repository that it means, if any; else it has none. A HOME's own settings never take part. */
  gitDir?: string
  /** Where new objects go. */
  objects?: string
  cwd?: string
  /** True: git and ssh may ask the person at the terminal. */
  interactive: boolean
  signal: AbortSignal
}

/** What the call did. */
export interface PersonGitResult {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Runs git as the person would, for what only the person's settings can do: credential helpers, proxies, ssh keys. It
 * stays in the terminal's foreground, so that a passphrase can be typed. No hook runs; only plain protocols are used.
 */
export async function personGit(args: string[], options: PersonGitOptions): Promise<PersonGitResult> {
  const path = (options.env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter)
  const program = which('git', path)
  if (!program) throw errors.gitMissing()
  options.signal.throwIfAborted()
  const settings = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'gc.auto=0', 'maintenance.auto=false']
  const child = Bun.spawn([program, ...settings.flatMap((setting) => ['-c', setting]), ...args], {
    // Where no repository is found on the way up, whose settings would count.
    cwd: options.cwd ?? parse(tmpdir()).root,
    env: personEnv(options),
    stdin: options.interactive ? 'inherit' : 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    signal: options.signal,
    killSignal: 'SIGTERM',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  options.signal.throwIfAborted()
  return { code: child.exitCode, stdout, stderr }
}

/** Why git failed, in its own last words and without the password that an address may hold. */
export function lastWords({ stderr, code }: PersonGitResult): string {
  const lines = stderr.split('\n').map((line) => line.trim())
  const said = lines.filter((line) => /^(fatal|error|ssh|remote|warning):/i.test(line))
  const words = (said.length > 0 ? said : lines.filter(Boolean)).slice(0, 3).join('; ')
  return withoutPassword(words.slice(0, 500)).replace(/[.!]+$/, '') || `git ended with ${code}`
}

/** An address as it may be shown: what stands before the `@` of a web address may be a password. */
export function withoutPassword(url: string): string {
  return url.replace(/(\w+:\/\/)[^/@\s]+@/g, '$1***@')
}

/** Variables by which a person tells git how to reach a remote; every other `GIT_*` would name another repository. */
const transport =
  /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|PROXY_COMMAND|SSL_\w+|HTTP_\w+|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM|EXEC_PATH|ALLOW_PROTOCOL|TRACE\w*)$/

function personEnv({ env, gitDir, objects, interactive }: PersonGitOptions): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (!entry[0].startsWith('GIT_') || transport.test(entry[0])),
  )
  return {
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    ...(gitDir === undefined ? {} : { GIT_DIR: gitDir }),
    ...(objects === undefined ? {} : { GIT_OBJECT_DIRECTORY: objects }),
    ...(interactive ? {} : { GIT_TERMINAL_PROMPT: '0' }),
  }
}
