import { join } from 'node:path'
import { type Phase, phases } from '../api/work.ts'
import { loadProjectConfig } from '../config/project.ts'
import { errors } from '../errors.ts'
import { meantOf } from '../machine/nearest.ts'
import { keptPhases } from '../machine/phases.ts'
import { readBounded } from '../store/atomic.ts'
import type { Project } from '../store/layout.ts'

/** The phases that a project keeps, in order. */
export function keptOf(project: Project): Phase[] {
  const file = join(project.automaton, 'config.json')
  return keptPhases(loadProjectConfig(readBounded(file, 1 << 20), file).phases)
}

/** The phase of that name. Throws `usage`. */
export function phaseNamed(name: string, where: string): Phase {
  const phase = phases.find((known) => known === name)
  if (phase) return phase
  throw errors.usage(`unknown phase (${name})`, meantOf(name, phases), where)
}
