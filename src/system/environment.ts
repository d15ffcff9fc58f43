import { delimiter } from 'node:path'
import { isWindows } from './platform.ts'

/** Variables that reach a session as they are (contract, section 8); prefixes end in `*`. */
const passed = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TERM', 'TMPDIR', 'TZ', 'XDG_*'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE'],
  ...['SystemRoot', 'APPDATA', 'LOCALAPPDATA', 'USERPROFILE', 'ComSpec', 'PATHEXT'],
]

/** The proxy variables are read in both cases by the tools that know them. */
export const proxies = /^(https?|ftp|all|no)_proxy$/i

/** Windows programs do not start well without these. */
const passedOnWindows = ['TEMP', 'TMP', 'windir', 'SystemDrive', 'ProgramFiles', 'ProgramData']

/**
 * Never handed to a session, whoever asks: they redirect git, mark the session as part of another agent's,
 * or load code into every program that the session starts.
 */
const removed = /^(GIT_.*|CLAUDECODE|BUN_.*|NODE_OPTIONS|LD_.*|DYLD_.*)$/i

/** Names that load foreign code into automaton itself; `*` ends a prefix. For the refusal of `tick` and `approve`. */
export const unsafeNames: readonly string[] = [
  'BUN_OPTIONS',
  'BUN_BE_BUN',
  'BUN_INSPECT*',
  'NODE_OPTIONS',
  'LD_PRELOAD',
  'LD_AUDIT',
  'DYLD_INSERT_LIBRARIES',
]

/** What {@link sessionEnv} builds from. */
export interface SessionEnvOptions {
  /** The environment of automaton. */
  env: Readonly<Record<string, string | undefined>>
  /** Variables that automaton and the harness set; they win over inherited ones. */
  extra: Readonly<Record<string, string>>
  /** Further names to inherit: those of the harness adapter and of `harness.env`. */
  allowed: readonly string[]
  /** Default: this system. On Windows names are compared without case. */
  platform?: NodeJS.Platform
}

/** The environment of a session: an allow-list, so that a variable nobody thought of stays out. */
export function sessionEnv(options: SessionEnvOptions): Record<string, string> {
  const windows = (options.platform ?? process.platform) === 'win32'
  const fold = (name: string) => (windows ? name.toUpperCase() : name)
  const patterns = [...passed, ...(windows ? passedOnWindows : [])].map(fold)
  const listed = new Set(options.allowed.map(fold))
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(options.env)) {
    if (value === undefined || removed.test(name)) continue
    if (matches(fold(name), patterns) || proxies.test(name) || listed.has(fold(name))) result[name] = value
  }
  for (const [name, value] of Object.entries(options.extra)) {
    if (removed.test(name)) continue
    // Windows would otherwise hand over `Path` and `PATH`, and which of them counts is chance.
    for (const other of Object.keys(result)) if (fold(other) === fold(name)) delete result[other]
    result[name] = value
  }
  return result
}

/** Has programs be looked for in this folder first. On Windows the variable may be called `Path`. */
export function putFirstOnPath(env: Record<string, string>, folder: string): void {
  const name = Object.keys(env).find((one) => isWindows && one.toUpperCase() === 'PATH') ?? 'PATH'
  env[name] = `${folder}${delimiter}${env[name] ?? ''}`
}

/** True for a name that no session and no tick ever gets from outside. */
export function isKeptOut(name: string): boolean {
  return removed.test(name)
}

/** The first variable that could have loaded code into automaton, or null. An empty value counts as unset. */
export function unsafeVariable(env: Readonly<Record<string, string | undefined>>): string | null {
  const names = Object.keys(env).filter((name) => env[name] && matches(name, unsafeNames))
  return names.sort()[0] ?? null
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )
}
