import { mkdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { writeAtomic } from '../store/atomic.ts'
import type { Deps } from './deps.ts'

/** A folder that holds this automaton under the name `automaton`, for the front of a session's PATH. */
export function agentBin(deps: Deps): string {
  const [program, ...rest] = deps.self
  if (program === undefined) throw new Error('self is empty')
  if (rest.length === 0 && basename(program) === 'automaton') return dirname(program)
  const folder = join(deps.project.cache, 'bin')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'automaton')
  const script = `#!/bin/sh\nexec ${[program, ...rest].map(quote).join(' ')} "$@"\n`
  if (readOrNull(file) !== script) writeAtomic(file, script, 0o700)
  return folder
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
