import type { Death } from '../api/hooks.ts'
import type { LoopFacts } from './loop-facts.ts'

/** What a person types next about a loop, the likeliest first. */
export function nextCommands({
  places,
  state,
  config,
  isTicking,
  isPauseRequested,
  problems,
}: LoopFacts): string[] {
  const name = places.name
  if (!state) return [`automaton repair ${name}`]
  if (!config) return [`edit ${places.config}`]
  if (problems[0]?.fix.startsWith('automaton repair')) return [problems[0].fix]
  if (isTicking)
    return [isPauseRequested ? `automaton resume-loop ${name}` : `automaton log ${name} --follow`]
  switch (state.status) {
    case 'running':
      return [`automaton tick ${name}`]
    case 'paused':
      return [`automaton resume-loop ${name}`]
    case 'complete':
      return [`automaton log ${name}`, ...mergeOf(places.name, config.blast_radius.worktree)]
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

function mergeOf(name: string, worktree: boolean): string[] {
  return worktree ? [`git merge automaton/${name}`] : []
}
