import type { Host } from '../plugin/host.ts'
import type { Project } from '../store/layout.ts'
import type { Clock } from '../system/clock.ts'
import type { Progress } from '../system/progress.ts'

/** Everything that a tick touches besides its own files, handed in so that tests can replace it. */
export interface Deps {
  project: Project
  /** The HOME folder of automaton. */
  home: string
  /** The environment that automaton was started with. */
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  /** Progress for a person who watches; never the answer. */
  progress: Progress
  host: Host
  /** Program and arguments that start this automaton again. */
  self: readonly string[]
  /** The loop's own unit started this process, which ends when the unit is unloaded. */
  byScheduler: boolean
  /** Aborted when automaton is told to stop. */
  signal: AbortSignal
}
