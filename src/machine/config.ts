import type { Role } from '../api/harness.ts'
import type { Phase } from '../api/work.ts'
import type { Prices } from './prices.ts'

/** How one role's sessions run. */
export interface RoleConfig {
  /** A prompt file's name, or the prompt itself. */
  prompt: string
  /** Context window in tokens. */
  tier: number
  /** Opaque model id; null: `models.json` decides. */
  model: string | null
}

/** When a loop stops by itself. */
export interface Brakes {
  /** Ticks since the last approval. */
  max_iterations: number
  /** US dollars since the last approval; null: no cap. */
  max_budget_usd: number | null
  max_tokens: number | null
  max_wall_seconds: number | null
  /** What a session that reported no cost means where a money cap is set. */
  unknown_cost: 'halt' | 'ignore'
  /** Ticks; under 2 turns the breaker off. */
  score_plateau_window: number
  score_epsilon: number
  max_consecutive_errors: number
}

/** `loop.json`, checked, with every default filled in. */
export interface LoopConfig {
  schema_version: 1
  name: string
  description: string
  work_source: {
    kind: string
    area: string | null
    task: string | null
    phases: Phase[] | null
    options: Record<string, unknown>
  }
  acceptance_criteria: string[]
  roles: Record<Role, RoleConfig> & {
    orchestrate: RoleConfig & { mode: 'session' | 'rules' }
    allow_same_model: boolean
  }
  verifiers: { use: string; options?: Record<string, unknown> | undefined }[]
  brakes: Brakes
  blast_radius: {
    worktree: boolean
    /** Globs or folder prefixes relative to the project; empty: the whole worktree. */
    file_scope: string[]
    base_branch: string
    sandbox: 'auto' | 'required' | 'off'
    primary: 'report' | 'halt'
  }
  outputs: { retention: number }
  schedule: { kind: 'native' | 'daemon' | 'manual'; interval_seconds: number }
  harness: {
    use: string
    command: string[] | null
    timeout_seconds: number
    idle_seconds: number
    /** Names of variables to hand to sessions besides the allow-list. */
    env: string[]
    /** Folders that sessions may write inside the sandbox, besides the worktree; `~/` is the person's home. */
    writes: string[]
  }
}

/** `models.json`: ids are compared as strings and never looked into. */
export interface Models {
  default: string | null
  models: string[]
  roles: Partial<Record<Role, string>>
}

/** `<project>/.automaton/config.json`. */
export interface ProjectConfig {
  /** The phases that this project keeps; null: all. */
  phases: Phase[] | null
  /** For harnesses that report tokens and no money. */
  prices: Prices
  /** Who is told of a halt and of a finished task. */
  notify: { use: string; options: Record<string, unknown> }[]
}
