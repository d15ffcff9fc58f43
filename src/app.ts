import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { AutomatonError } from './errors.ts'
import type { Host } from './plugin/host.ts'
import type { LoaderOptions } from './plugin/loader.ts'
import type { Deps } from './runner/deps.ts'
import { findProject, homeFolder, type Project } from './store/layout.ts'
import { type Clock, systemClock } from './system/clock.ts'
import type { Progress } from './system/progress.ts'

/** What a command may use; every part is made when it is first asked for. */
export interface App {
  /** Throws `no_project` outside of one. */
  project(): Project
  home: string
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  version: string
  clock: Clock
  progress: Progress
  /** Program and arguments that start this automaton again. */
  self: readonly string[]
  /** Loads the plugins the first time; hot verbs never call it. */
  host(): Promise<Host>
  /** Where a user's plugins are and how they run; outside of a project only HOME's. */
  pluginPlaces(): LoaderOptions
  /** What the runner needs, in one value. */
  deps(): Promise<Deps>
  signal: AbortSignal
  terminal: Terminal
  /** The session that this command was called from, or null for a person. */
  inTick: InTick | null
  /** Looks once more whether the caller may do this, where it has waited for a lock; throws as at the start. */
  permit(): Promise<void>
}

/** The person at the terminal, if there is one. */
export interface Terminal {
  interactive: boolean
  /** Who and where, for the record of an approval. */
  describe(): { user: string; tty: string | null }
  ask(question: string): Promise<string>
}

/** What a session's environment says of its tick. */
export interface InTick {
  loop: string
  role: string
  task: string | null
  phase: string | null
  /** Where the orchestrate session's one operation goes. */
  intent: string | null
}

/** What the process edge knows and the app does not look up by itself. */
export interface AppInput {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  version: string
  project: string | undefined
  progress: Progress
  self: readonly string[]
  signal: AbortSignal
  terminal: Terminal
  /** Whether the caller may do this; nothing to look at when absent. */
  permit?: (app: App) => Promise<void>
}

/** Puts the parts together; touches no disk until a part is asked for. */
export function createApp(input: AppInput): App {
  const home = homeFolder(input.env, homedir())
  const where = { cwd: input.cwd, home, flag: input.project }
  let project: Project | undefined
  let host: Promise<Host> | undefined
  const app: App = {
    ...input,
    home,
    clock: systemClock,
    inTick: readInTick(input.env),
    permit: async () => await input.permit?.({ ...app, project: () => findProject(where) }),
    project() {
      project ??= findProject(where)
      return project
    },
    host() {
      host ??= loadHost(app)
      return host
    },
    pluginPlaces: () => placesOf(app),
    deps: async () => ({
      project: app.project(),
      home,
      env: input.env,
      clock: app.clock,
      progress: input.progress,
      host: await app.host(),
      self: input.self,
      byScheduler: false,
      signal: input.signal,
    }),
  }
  return app
}

async function loadHost(app: App): Promise<Host> {
  const [{ createHost }, { builtinPlugins }, { loadUserPlugins }] = await Promise.all([
    import('./plugin/host.ts'),
    import('../plugins/index.ts'),
    import('./plugin/loader.ts'),
  ])
  const loaded = loadUserPlugins(app.pluginPlaces())
  return createHost({ builtins: builtinPlugins, loaded, log: app.progress })
}

function placesOf({ home, env, self, progress: log, cwd: here, ...app }: App): LoaderOptions {
  const project = projectOrNull(app)
  const cwd = project?.root ?? (existsSync(home) ? home : here)
  return { home, automaton: project?.automaton ?? null, cwd, env, self, log }
}

function projectOrNull(app: Pick<App, 'project'>): Project | null {
  try {
    return app.project()
  } catch (error) {
    if (error instanceof AutomatonError) return null
    throw error
  }
}

function readInTick(env: AppInput['env']): InTick | null {
  const loop = env.AUTOMATON_IN_TICK
  if (!loop) return null
  return {
    loop,
    role: env.AUTOMATON_ROLE ?? '',
    task: env.AUTOMATON_TASK ?? null,
    phase: env.AUTOMATON_PHASE ?? null,
    intent: env.AUTOMATON_INTENT ?? null,
  }
}
