import type { App } from '../app.ts'
import { AutomatonError } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import type { LoopState } from '../machine/state.ts'
import type { Deps } from '../runner/deps.ts'
import { checkUnit, installedScript } from '../runner/unit-check.ts'
import { lastScheduled } from '../store/scheduled-log.ts'
import { which } from '../system/process.ts'
import type { Finding } from './doctor.ts'
import type { LoopFacts } from './loop-facts.ts'

/** What is to say of a loop's schedule: its unit, its script, its agent as the script finds it. */
export async function scheduleFindings(app: App, { places, state, config }: LoopFacts): Promise<Finding[]> {
  if (!state || state.schedule.kind === null) return []
  const what = `schedule ${places.name}`
  try {
    const deps = await app.deps()
    const unit = await checkUnit(deps, { places, state, config })
    const path = installedScript(places)?.env.PATH ?? null
    const found = [
      ...(unit ? unitFindings({ what, state, config, unit, loop: places.name }) : []),
      ...(path !== null && config
        ? await agentFindings({ deps, what, config, path, loop: places.name })
        : []),
      ...lastNote(places, state, what),
    ]
    if (found.length > 0) return found
    return [{ what, level: 'good', detail: stateOf(state), fix: '' }]
  } catch (error) {
    if (!(error instanceof AutomatonError)) throw error
    return [{ what, level: 'bad', detail: error.message, fix: error.fix }]
  }
}

function stateOf({ schedule, status }: LoopState): string {
  return schedule.enabled ? `${schedule.kind} ticks it` : `${schedule.kind}, off while the loop is ${status}`
}

function unitFindings(o: {
  what: string
  loop: string
  state: LoopState
  config: LoopConfig | null
  unit: NonNullable<Awaited<ReturnType<typeof checkUnit>>>
}): Finding[] {
  const { what, loop, state, unit } = o
  const again = `automaton install-schedule ${loop}`
  const kind = o.config?.schedule.kind ?? 'native'
  if (kind !== 'native') {
    const detail = `loop.json says schedule.kind "${kind}", and ${state.schedule.kind} has a unit all the same`
    return [{ what, level: 'bad', detail, fix: `automaton uninstall-schedule ${loop}` }]
  }
  if (!state.schedule.enabled) {
    if (!unit.enabled) return []
    const detail = `its unit is on although the loop is ${state.status}; its ticks are refused`
    return [{ what, level: 'hint', detail, fix: `automaton tick ${loop} --scheduled switches it off` }]
  }
  const wrong = [
    ...(unit.installed ? [] : [`its unit is missing from ${state.schedule.kind}`]),
    ...(unit.installed && !unit.enabled ? ['its unit is switched off'] : []),
    ...unit.drift,
  ]
  const warnings = (unit.warnings ?? []).map((detail) => ({ what, level: 'bad' as const, detail, fix: '' }))
  return [...wrong.map((detail) => ({ what, level: 'bad' as const, detail, fix: again })), ...warnings]
}

/** Whether the agent is where scheduled ticks look for programs. */
async function agentFindings(o: {
  deps: Deps
  what: string
  loop: string
  config: LoopConfig
  path: string
}): Promise<Finding[]> {
  const { harness } = o.config
  const [own] = harness.command ?? []
  const programs = own === undefined ? (await o.deps.host.harness(harness.use)).programs : [own]
  return (
    programs
      // One that is nowhere has been said already.
      .filter((program) => which(program, o.path) === null && which(program, o.deps.env.PATH ?? '') !== null)
      .map((program) => ({
        what: o.what,
        level: 'bad',
        detail: `${program} is in no folder of the PATH that its ticks have`,
        fix: `run automaton install-schedule ${o.loop} in a terminal that finds ${program}`,
      }))
  )
}

/** Why the last scheduled tick did not run, unless a later one has got over it. */
function lastNote(places: LoopFacts['places'], state: LoopState, what: string): Finding[] {
  const line = lastScheduled(places)
  if (line === null || (state.last_tick_at !== null && line < state.last_tick_at)) return []
  return [
    { what, level: 'hint', detail: `the scheduler said: ${line}`, fix: `automaton status ${places.name}` },
  ]
}
