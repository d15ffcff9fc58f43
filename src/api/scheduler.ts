/** One loop's entry in the system's scheduler. */
export interface Unit {
  loop: string
  project: string
  /** Absolute path of the tick script. */
  script: string
  intervalSeconds: number
}

/** What the system's scheduler holds for a loop. */
export interface UnitState {
  installed: boolean
  enabled: boolean
  /** Differences between what is there and what automaton would write, for people. */
  drift: string[]
}

/** Installs a loop's unit in a system scheduler. Each verb is idempotent. */
export interface Scheduler {
  install(unit: Unit): Promise<void>
  remove(unit: Unit): Promise<void>
  enable(unit: Unit): Promise<void>
  disable(unit: Unit): Promise<void>
  inspect(unit: Unit): Promise<UnitState>
}
