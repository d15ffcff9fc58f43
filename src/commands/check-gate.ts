import { existsSync } from 'node:fs'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { checkGate as decide, type GateResult } from '../machine/gate.ts'
import { distrustWritable } from '../runner/distrust.ts'
import { gatherFacts } from '../runner/facts.ts'
import { passGate } from '../runner/gate.ts'
import { setUpNotifiers } from '../runner/notify.ts'
import { keepingRun } from '../runner/run-kept.ts'
import { readSetting } from '../runner/setting.ts'
import { mendMoved } from '../runner/strayed.ts'
import { peek } from '../store/journal.ts'
import { acquire } from '../store/lock.ts'
import { readRun } from '../store/run.ts'
import { existingLoop, followLoop, lockWaitMs, stateOrNull } from './held.ts'

/** The gate's answer without what only automaton needs. */
export type GateReport = Omit<GateResult, 'effect'> & {
  loop: string
  /** A tick holds the loop; this is what is stored, and nothing was looked at or written. */
  running: boolean
}

/** Runs the seven checks and writes a halt that they find (contract, section 5). */
export async function checkGate(app: App, { loop }: { loop: string }): Promise<GateReport> {
  const project = app.project()
  const places = existingLoop(project, loop)
  const setting = readSetting(places, project, app.home)
  const deps = await app.deps()
  await distrustWritable(setting, deps)
  await setUpNotifiers(deps, setting.notify)
  const lock = await acquire(places.lock, { waitMs: readRun(places) ? 0 : lockWaitMs })
  if (lock.busy) {
    if (!readRun(places)) throw errors.busy(loop, lock.holder)
    const { state } = peek(places)
    const facts = await gatherFacts({
      places,
      deps,
      setting,
      state: state && { ...state, status: 'running' },
    })
    return report(loop, decide({ ...facts, state, outOfScope: [], tamper: null }), true)
  }
  await using _held = lock
  const copied = await mendMoved(places, project)
  const { gate, stopped } = await keepingRun(places, async () => {
    const before = stateOrNull(project, places)
    if (!copied && existsSync(places.syncBegun)) {
      const { finishSync } = await import('../runner/begun-sync.ts')
      await finishSync({ places, repo: setting.repo, state: before })
    }
    const { gate, state } = await passGate({ places, deps, setting, state: before, run: null })
    return { gate, stopped: state?.status !== before?.status }
  })
  if (stopped) await followLoop(app, places)
  return report(loop, gate, false)
}

function report(loop: string, gate: GateResult, running: boolean): GateReport {
  const { effect: _, ...answer } = gate
  return { ...answer, loop, running }
}
