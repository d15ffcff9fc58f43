import type { App } from '../app.ts'
import type { ExitCode } from '../errors.ts'
import type { Input } from './input.ts'
import type { Page } from './page.ts'

/** One option of a verb. */
export interface OptionSpec {
  /** Without dashes; `no-x` turns off what is on. */
  name: string
  /** What its value is called in help; absent: a switch. */
  value?: string
  /** May be given more than once. */
  list?: boolean
  help: string
}

/** What a verb answered. */
export interface Answer {
  /** Printed as it is with `--json`, `"schema": 1` before it. */
  report: object
  /** Default 0. */
  exit?: ExitCode
  /** Nothing is printed: a scheduler would mail it. */
  silent?: boolean
  /** The same for people; every text that came from outside is made visible first. */
  text(page: Page): Promise<string>
}

/** Where a streaming verb puts what comes later; false: nobody reads any more. */
export type Emit = (answer: Omit<Answer, 'exit'>) => Promise<boolean>

/** One command of the program. */
export interface Verb {
  name: string
  alias?: string
  /** Positional arguments as help shows them: `<needed>`, `[optional]`, `<...rest>`. */
  args?: string
  options?: readonly OptionSpec[]
  /** The heading it stands under in help; absent: not listed. */
  group?: Group
  /** One line. */
  help: string
  /** May be called from a session: to look, or to leave the orchestrate session's one operation. */
  inTick?: 'look' | 'intent'
  /** It never changes anything that a running session could want changed. */
  readOnly?: boolean
  /** What it changes is HOME's, in whichever project it is called. */
  changesHome?(input: Input): boolean
  /** It starts programs or decides for a person, so that no variable may have loaded code into automaton. */
  strict?: boolean
  /** It may take long, and ends in order when it is told to stop. */
  waits?: boolean
  /** Prints JSON for people too. */
  alwaysJson?: boolean
  /** Null: everything has been emitted. */
  run(app: App, input: Input, emit: Emit): Promise<Answer | null>
}

/** The headings of help, in order. */
export const groups = ['Start', 'Run', 'Look', 'Decide', 'Tasks', 'For programs', 'Inside a tick'] as const

/** One of {@link groups}. */
export type Group = (typeof groups)[number]

/** The options that every verb takes. */
export const globalOptions: readonly OptionSpec[] = [
  { name: 'project', value: 'DIR', help: 'the project, instead of the one around this folder' },
  { name: 'json', help: 'print one JSON object' },
  { name: 'no-color', help: 'print without colours' },
  { name: 'help', help: 'show this help' },
  { name: 'version', help: 'print the version' },
]
