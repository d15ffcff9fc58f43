import type { Phase } from '../api/work.ts'
import type { MachineConfig } from '../config/machine.ts'
import type { LoopConfig, Models } from '../machine/config.ts'
import type { Prices } from '../machine/prices.ts'
import type { LoopState } from '../machine/state.ts'
import type { LoopPlaces } from '../store/layout.ts'
import type { Repository } from '../system/repository.ts'
import type { SandboxChoice } from '../system/sandbox/tier.ts'
import type { Deps } from './deps.ts'
import type { LastLook } from './last-look.ts'
import type { Ledger } from './ledger.ts'

/** One tick's surroundings: fixed from its start to its end. */
export interface Scene {
  deps: Deps
  places: LoopPlaces
  config: LoopConfig
  models: Models | null
  prices: Prices
  machine: MachineConfig
  /** The project's phases. */
  kept: Phase[]
  /** The phases that this loop may work. */
  allowed: Phase[]
  repo: Repository | null
  /** Names this tick everywhere: log, run.json, refs, the environment of its sessions. */
  run: string
  /** `iteration_count + 1`. */
  tick: number
  startedAt: string
  /** The state that passed the gate: what the tick spends comes on top of it. */
  opening: LoopState
  ledger: Ledger
  /** What was last seen of what sessions must leave alone. */
  looks: LastLook
  /** What sessions are locked in by. */
  sandbox: SandboxChoice
  warnings: string[]
}

/** A tick that has no work yet, and so has not looked for a sandbox. */
export type Search = Omit<Scene, 'sandbox'>

/** Where the sessions of a tick work, and what its changes are measured from. */
export interface Site {
  /** `worktree`: the loop's own. `primary`: the person's checkout. `plain`: a folder without git. */
  kind: 'worktree' | 'primary' | 'plain'
  /** The root of the working tree. */
  root: string
  /** Where sessions start: the project's folder inside the working tree. */
  cwd: string
  /** Commit or tree id that drift is measured from; null without git. */
  base: string | null
  /** Commit or tree id that this tick started from. */
  start: string | null
}

/** A task that this tick works, as it was when the tick took it. */
export interface Work {
  task: string
  phase: Phase
}
