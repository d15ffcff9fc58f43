import { type AutomatonError, errors } from '../errors.ts'
import { unsafeVariable } from '../system/environment.ts'
import type { LoadRequest } from './child-plugin.ts'
import type { HostedPlugin } from './entry.ts'
import { findPlugins, type PluginFile, pluginFolders } from './files.ts'
import type { LoadedPlugin } from './host.ts'
import { peek } from './peek.ts'
import { RemotePlugin } from './remote.ts'
import { defaultLimits, type Limits } from './roles.ts'
import { readTrust, type TrustRecord, trustedFiles } from './trust.ts'

/** Where a user's plugins are, and how they are run. */
export interface LoaderOptions {
  home: string
  /** The project's `.automaton` folder; null outside of a project. */
  automaton: string | null
  /** Where their processes work: the project, or HOME. */
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  /** Program and arguments that start this automaton again. */
  self: readonly string[]
  log(line: string): void
}

/** A user's plugin, as far as it is known without running it. */
export interface UserPlugin extends LoadedPlugin {
  source: PluginFile
  remote: true
  child: RemotePlugin
  fix: string
}

/** How long a user's plugin may compute without a pause, in milliseconds. */
const blockMs = 30_000

/**
 * Finds the user's plugins, HOME's first, and compares each with what was trusted. Nothing of them is run before it is
 * needed. One that may not be run takes its place all the same, and says why when it is asked for: a loop that names
 * it is refused and gets no other plugin in its stead.
 */
export function loadUserPlugins(o: LoaderOptions): UserPlugin[] {
  const folders = pluginFolders(o.home, o.automaton)
  const files = folders.flatMap((folder) => findPlugins(folder))
  if (files.length === 0) return []
  const trust = readTrust(o.home)
  return files.map((file) => {
    const found = trust.records.find((one) => one.file === file.file)
    return userPlugin({ ...o, file, found, distrust: trust.problem })
  })
}

/** One file as a plugin. */
export function userPlugin(
  o: LoaderOptions & {
    file: PluginFile
    found: TrustRecord | undefined
    /** Why no record counts. */
    distrust?: string | null
    withTests?: boolean
  },
): UserPlugin {
  const { file, found } = o
  const guess = found ?? peek(file)
  const name = guess.name ?? file.stem
  const fix = `automaton plugins check ${shown(file.file)}`
  const limits = limitsOf(o.env)
  const child = new RemotePlugin({
    argv: [...o.self, 'plugin-process'],
    cwd: o.cwd,
    env: childEnv(o.env),
    log: (line) => o.log(`plugin "${name}": ${line}`),
    blockMs: Math.min(blockMs, ...Object.values(limits)),
    limits,
    request: () => requestOf({ ...o, name, fix }),
  })
  const plugin: HostedPlugin = {
    name,
    ...(guess.role ? { role: guess.role } : {}),
    ...(found?.needs_options ? { needsOptions: true } : {}),
    setup: async ({ options }) => {
      const said = await child.load()
      if (said.name === name && said.role === (found?.role ?? null)) return child.setUp(options)
      const why = `it calls itself ${said.role ?? 'plugin'} "${said.name}", which it did not when it was trusted`
      throw errors.pluginFailed(name, 'shape', why, undefined, trustCommand(file))
    },
  }
  return { plugin, origin: file.file, source: file, remote: true, child, fix, problem: problemOf(o, name) }
}

/** The command that trusts a plugin as it is now. */
export function trustCommand({ file }: PluginFile): string {
  return `automaton plugins trust ${shown(file)}`
}

/** A path as it can be typed into a shell. */
export function shown(path: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

function problemOf(o: Parameters<typeof userPlugin>[0], name: string): AutomatonError | null {
  const files = trustedFiles(o.file, o.found, false)
  return Array.isArray(files) ? null : distrusted(o, name, files)
}

function requestOf(o: Parameters<typeof userPlugin>[0] & { name: string; fix: string }): LoadRequest {
  const files = trustedFiles(o.file, o.found, o.withTests === true)
  if (!Array.isArray(files)) throw distrusted(o, o.name, files)
  return {
    as: o.name,
    entry: o.file.real,
    test: o.withTests ? o.file.test : null,
    files,
    fix: o.fix,
  }
}

function distrusted(
  { file, distrust }: Parameters<typeof userPlugin>[0],
  name: string,
  { stage, why }: { stage: string; why: string },
): AutomatonError {
  const reason = stage === 'trust' && distrust ? `${why}: ${distrust}` : why
  const trust = trustCommand(file)
  const fix = stage === 'trust' ? trust : `put it right, then: ${trust}`
  return errors.pluginFailed(name, stage, `${reason} (${file.file})`, undefined, fix)
}

/** What a plugin's process sees: what automaton sees, but for what could load other code into it. */
function childEnv(env: LoaderOptions['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && unsafeVariable({ [entry[0]]: entry[1] }) === null,
    ),
  )
}

/** `AUTOMATON_PLUGIN_SECONDS` is how long any call may take, for plugins that need more time, or less. */
function limitsOf(env: LoaderOptions['env']): Limits {
  const seconds = Number(env.AUTOMATON_PLUGIN_SECONDS)
  if (!(seconds > 0)) return defaultLimits
  const ms = seconds * 1000
  return { setup: ms, find: ms, command: ms, verify: defaultLimits.verify, schedule: ms, hook: ms }
}
