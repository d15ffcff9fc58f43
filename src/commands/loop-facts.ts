import { existsSync } from 'node:fs'
import { loadLoopConfig } from '../config/loop.ts'
import { AutomatonError } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import { nextDue } from '../machine/due.ts'
import type { LoopState } from '../machine/state.ts'
import { readBounded } from '../store/atomic.ts'
import { peek } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { type RunRecord, readRun } from '../store/run.ts'
import { isAlive } from '../system/process.ts'

/** Everything that can be read of a loop for display; a broken part is a problem in words and stops nothing. */
export interface LoopFacts {
  places: LoopPlaces
  state: LoopState | null
  /** What is wrong with state and log; null when they agree. */
  stateProblem: AutomatonError | null
  config: LoopConfig | null
  run: RunRecord | null
  /** The tick of `run` is at work; false: it died, and the next tick cleans up. */
  isTicking: boolean
  isPauseRequested: boolean
  /** When the loop should tick next; null when nothing will. */
  nextTickAt: string | null
  /** Until when an agent's limit keeps it from ticking; null when none does. */
  waitsUntil: string | null
  problems: { what: string; fix: string }[]
}

const configLimit = 1 << 20

/** Reads one loop for display. Never throws for what is wrong with it. */
export function loopFacts(places: LoopPlaces, now: Date): LoopFacts {
  const { state, problem } = peek(places)
  const problems = problem ? [{ what: problem.message, fix: problem.fix }] : []
  const config = configOf(places, problems)
  const run = runOf(places, problems)
  const isTicking = run !== null && isAlive(run.automaton)
  return {
    places,
    state,
    stateProblem: problem,
    config,
    run,
    isTicking,
    isPauseRequested: existsSync(places.pauseRequest),
    nextTickAt: nextTick(state, config, now),
    waitsUntil: state?.not_before && Date.parse(state.not_before) > now.getTime() ? state.not_before : null,
    problems,
  }
}

function configOf(places: LoopPlaces, problems: LoopFacts['problems']): LoopConfig | null {
  try {
    const loaded = loadLoopConfig({
      file: places.config,
      text: readBounded(places.config, configLimit) ?? '',
      loop: places.name,
    })
    for (const warning of loaded.warnings) problems.push({ what: warning, fix: `edit ${places.config}` })
    return loaded.config
  } catch (error) {
    if (!(error instanceof AutomatonError)) throw error
    problems.push({ what: error.message, fix: error.fix })
    return null
  }
}

function runOf(places: LoopPlaces, problems: LoopFacts['problems']): RunRecord | null {
  const run = readRun(places)
  if (!run || !('problem' in run)) return run
  problems.push({ what: `run.json cannot be read (${run.problem})`, fix: `automaton tick ${places.name}` })
  return null
}

/** A loop that a person ticks, or that no scheduler knows, has no next tick. */
function nextTick(state: LoopState | null, config: LoopConfig | null, now: Date): string | null {
  if (state?.status !== 'running' || !config || config.schedule.kind === 'manual') return null
  const due = nextDue({
    lastTickAt: state.last_tick_at,
    intervalSeconds: config.schedule.interval_seconds,
    notBefore: state.not_before,
    now,
  })
  return due.toISOString()
}
