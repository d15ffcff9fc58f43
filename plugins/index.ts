import type { Plugin } from 'automaton'
import commandHarness from './harnesses/command.ts'
import opencode from './harnesses/opencode.ts'
import audit from './sources/audit.ts'
import backlog from './sources/backlog.ts'
import single from './sources/single.ts'
import commandVerifier from './verifiers/command.ts'
import session from './verifiers/session.ts'

/** The plugins inside the program. They use the same module as a user's files, and nothing else. */
export const builtinPlugins: readonly Plugin[] = [
  audit,
  backlog,
  single,
  commandVerifier,
  session,
  commandHarness,
  opencode,
]
