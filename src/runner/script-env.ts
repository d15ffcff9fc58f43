import { proxies } from '../system/environment.ts'

/** What the environment of scheduled ticks is made from. */
export interface ScriptEnvInput {
  /** The person's environment when the schedule is installed. */
  env: Readonly<Record<string, string | undefined>>
  /** The person's home folder. */
  home: string
  /** True for a folder that a session may have changed: no program of a tick comes from there. */
  isTheirs(folder: string): boolean
  isWindows: boolean
}

/**
 * What every scheduled tick will see: HOME, PATH, and what agents need to find their settings and the network. Secrets
 * are not written down, so no key is among it, and no proxy with a password in its address. `dropped` are the folders
 * of PATH that were left out and exist for a reason that a person may want to know.
 */
export function scriptEnv(o: ScriptEnvInput): { env: Record<string, string>; dropped: string[] } {
  const { folders, dropped } = foldersOf(o)
  const env: Record<string, string> = {
    HOME: o.home,
    PATH: folders.join(o.isWindows ? ';' : ':') || '/usr/local/bin:/usr/bin:/bin',
  }
  // By name, so that the same environment makes the same script.
  for (const name of Object.keys(o.env).sort()) {
    const value = o.env[name]
    if (!value || /\p{Cc}/u.test(value)) continue
    if (recorded.includes(name) || (proxies.test(name) && !value.includes('@'))) env[name] = value
  }
  return { env, dropped }
}

const recorded = [
  ...['USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'AUTOMATON_HOME'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE'],
]

/** The absolute folders of PATH, each once. */
function foldersOf({ env, isTheirs, isWindows }: ScriptEnvInput): { folders: string[]; dropped: string[] } {
  const path = env.PATH ?? env.Path ?? ''
  const isAbsolute = (folder: string) => (isWindows ? /^[A-Za-z]:[\\/]/ : /^\//).test(folder)
  const all = [...new Set(path.split(isWindows ? ';' : ':'))].filter(
    (folder) => isAbsolute(folder) && !/[\p{Cc}"]/u.test(folder),
  )
  return { folders: all.filter((folder) => !isTheirs(folder)), dropped: all.filter(isTheirs) }
}
