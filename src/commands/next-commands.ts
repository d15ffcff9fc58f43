import type { Death } from '../api/hooks.ts'
import type { AutomatonError } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import type { LoopState } from '../machine/state.ts'
import type { LoopFacts } from './loop-facts.ts'

/** What a person types next about a loop, the likeliest first. `hasWork`: its branch has what the base branch lacks. */
export function nextCommands(
  { places, state, stateProblem, config, isTicking, isPauseRequested }: LoopFacts,
  hasWork: boolean,
): string[] {
  const name = places.name
  if (stateProblem) return [wayOut(name, stateProblem)]
  if (!state) return [`automaton repair ${name}`]
  if (!config) return [`edit ${places.config}`]
  if (isTicking)
    return [isPauseRequested ? `automaton resume-loop ${name}` : `automaton log ${name} --follow`]
  switch (state.status) {
    case 'running':
      return [...(hasWork && isBetweenTasks(state) ? mergeOf(name, config) : []), `automaton tick ${name}`]
    case 'paused':
      return [`automaton resume-loop ${name}`]
    case 'complete':
      return [...(hasWork ? mergeOf(name, config) : []), `automaton log ${name}`]
    case 'halted':
      return halted(name, state.halt?.id ?? '', state.halt?.reason ?? 'human_intervention')
  }
}

function halted(name: string, id: string, reason: Death): string[] {
  const approve = `automaton approve --loop ${name} --halt ${id}`
  const look = `automaton log ${name}`
  switch (reason) {
    case 'drift_detected':
      return [`${approve} --discard`, approve, look]
    case 'verifier_failed':
    case 'iterations_exhausted':
    case 'budget_exhausted':
    case 'human_intervention':
      return [look, approve]
  }
}

/** Only damage is repaired; a state of a newer automaton, for one, is whole. */
function wayOut(name: string, { code, fix }: AutomatonError): string {
  return code === 'state_damaged' || code === 'state_tampered' ? `automaton repair ${name}` : fix
}

/** The last task is done, so that its work may be taken over. */
export function isBetweenTasks({ current_task, last_task }: LoopState): boolean {
  return current_task === null && last_task !== null
}

/** How a person takes the work over, from their own checkout. */
export function mergeOf(name: string, { blast_radius }: LoopConfig): string[] {
  return blast_radius.worktree ? [`git merge automaton/${name}`] : []
}
