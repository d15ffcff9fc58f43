import type { PluginContext, RunResult } from './context.ts'

/** One loop's entry in the system's scheduler. */
export interface Unit {
  loop: string
  /** Absolute path of the project. With `loop` it names the unit: loops of two projects may have one name. */
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
  /** What keeps a unit that is as it should be from running, and what to do: nobody runs cron, timers end at logout. */
  warnings?: string[] | undefined
}

/** What a scheduler gets: the machine, as far as installing a unit needs it. */
export interface SchedulerContext extends PluginContext {
  /** Absolute path of the user's home folder. */
  home: string
  /** The user's number; null on Windows. */
  user: number | null
  /** The call comes from within the unit's own run, so that unloading the unit would end the caller. */
  fromTick: boolean
  /**
   * Runs a program of the system without a shell, with `LC_ALL=C`, found in the person's PATH and then in the usual
   * folders. Rejects when there is no such program; one that fails is a result.
   */
  run(argv: readonly string[], options?: SchedulerRunOptions): Promise<RunResult>
  /** A file's text; null when there is none. Rejects for what cannot be read, is a link, or has over 1 MiB. */
  readFile(path: string, options?: { encoding?: TextEncodingName }): Promise<string | null>
  /** Writes a file whole or not at all, and makes its folder when missing. Default mode 0600. */
  writeFile(path: string, data: string | Uint8Array, options?: { mode?: number }): Promise<void>
  /** Removes a file; one that is missing is fine. */
  removeFile(path: string): Promise<void>
}

/** How bytes become text. In `latin1` every byte is one character, so that nothing of an unknown text is lost. */
export type TextEncodingName = 'utf8' | 'latin1'

/** Details of a program that a scheduler runs. */
export interface SchedulerRunOptions {
  /** What the program reads; absent: nothing. */
  stdin?: string | Uint8Array
  /** Default 30. */
  timeoutSeconds?: number
  /** Variables that the program sees besides the usual ones. */
  env?: Readonly<Record<string, string>>
  /** Of what the program prints. Default `utf8`. */
  encoding?: TextEncodingName
}

/**
 * Installs a loop's unit in a system scheduler. Each verb is idempotent: called twice, it changes nothing more. Each
 * rejects when it cannot do its work, and leaves what is not its own untouched.
 */
export interface Scheduler {
  /** Writes the unit, enabled, and reads it back. */
  install(unit: Unit, ctx: SchedulerContext): Promise<void>
  /** Takes away the unit, and nothing that is not automaton's. */
  remove(unit: Unit, ctx: SchedulerContext): Promise<void>
  /** Lets the unit start ticks; installs it when it is missing. */
  enable(unit: Unit, ctx: SchedulerContext): Promise<void>
  /** Keeps the unit from starting ticks. A run that goes on is not ended. */
  disable(unit: Unit, ctx: SchedulerContext): Promise<void>
  /** Looks, and changes nothing. */
  inspect(unit: Unit, ctx: SchedulerContext): Promise<UnitState>
}

/** Eight letters and digits that tell a project from others, for the names of units: loops of two projects may have one name. */
export function projectHash(project: string): string {
  return new Bun.CryptoHasher('sha256').update(project).digest('hex').slice(0, 8)
}
