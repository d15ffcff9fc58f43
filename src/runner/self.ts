import { mkdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { writeAtomic } from '../store/atomic.ts'
import { isWindows } from '../system/platform.ts'
import type { Deps } from './deps.ts'

/** How a session finds this automaton. */
export interface AgentBin {
  /** Holds it under the name `automaton`; for the front of a session's PATH. */
  folder: string
  /** The file itself. */
  program: string
}

/** Makes sure that this automaton can be called by its name. */
export function agentBin(deps: Deps): AgentBin {
  const [program, ...rest] = deps.self
  if (program === undefined) throw new Error('self is empty')
  const name = isWindows ? 'automaton.exe' : 'automaton'
  if (rest.length === 0 && basename(program) === name) return { folder: dirname(program), program }
  const folder = join(deps.project.cache, 'bin')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, isWindows ? 'automaton.cmd' : 'automaton')
  const script = isWindows ? commandScript(deps.self) : shellScript(deps.self)
  if (readOrNull(file) !== script) writeAtomic(file, script, 0o700)
  return { folder, program: file }
}

function shellScript(self: readonly string[]): string {
  const quoted = self.map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  return `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`
}

/** A path holds no quotation mark there, but may hold the sign that starts a variable. */
function commandScript(self: readonly string[]): string {
  const quoted = self.map((word) => `"${word.replaceAll('%', '%%')}"`)
  return `@${quoted.join(' ')} %*\r\n`
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
