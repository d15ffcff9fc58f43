import { checkGate, type GateResult } from '../machine/gate.ts'
import { completeLoop, haltLoop, releaseTask } from '../machine/loop.ts'
import type { LoopState } from '../machine/state.ts'
import { commit } from '../store/journal.ts'
import { type GateInput, gatherFacts } from './facts.ts'
import { newHaltId } from './halt.ts'

/** Runs the seven checks and writes what they decide. The caller holds the lock and has a verified state. */
export async function passGate(
  input: GateInput & { run: string | null },
): Promise<{ gate: GateResult; state: LoopState | null }> {
  const { places, deps, state, run } = input
  const gate = checkGate(await gatherFacts(input))
  if (!state || gate.effect === 'none') return { gate, state }
  const at = deps.clock.iso()
  const record = { run, by: 'gate', at }
  switch (gate.effect) {
    case 'release': {
      const data = { task: state.current_task, why: gate.detail }
      return {
        gate,
        state: commit(places, state, releaseTask(state, at), { type: 'release', data, ...record }),
      }
    }
    case 'complete':
      return {
        gate,
        state: commit(places, state, completeLoop(state, at), { type: 'complete', data: {}, ...record }),
      }
    case 'halt': {
      if (!gate.halt_reason) throw new Error('a gate that halts names its reason')
      const files = gate.out_of_scope_files
      const halt = { id: newHaltId(), reason: gate.halt_reason, detail: gate.detail, files, at }
      const next = commit(places, state, haltLoop(state, halt), {
        type: 'halt',
        data: { ...halt },
        ...record,
      })
      await deps.host.emit('halt', {
        loop: places.name,
        project: deps.project.root,
        reason: halt.reason,
        detail: halt.detail,
        haltId: halt.id,
        fix: gate.fix,
      })
      return { gate, state: next }
    }
  }
}
