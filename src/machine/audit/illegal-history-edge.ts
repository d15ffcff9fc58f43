import { type Phase, phases } from '../../api/work.ts'
import { backPhase, nextPhase } from '../phase-table.ts'
import type { HistoryEntry } from '../task.ts'
import { eachTask } from './tracked.ts'
import type { AuditRule } from './types.ts'

/** A history with a step that the phase machine does not have, or with a gap. */
export const illegalHistoryEdge: AuditRule = {
  name: 'illegal-history-edge',
  severity: 'HIGH',
  isWorkable: false,
  find: (facts) =>
    eachTask(facts, ({ history }) =>
      history.flatMap((entry, i) => {
        const why = fault(entry, history[i - 1], facts.kept)
        return why === null ? [] : [{ at: String(entry.seq), message: `step ${entry.seq} ${why}` }]
      }),
    ),
}

function fault(entry: HistoryEntry, before: HistoryEntry | undefined, kept: readonly Phase[]): string | null {
  const { seq, from, to } = entry
  if (before === undefined) return from === null ? null : `starts at ${from}, with nothing before it`
  if (seq !== before.seq + 1) return `follows step ${before.seq}`
  if (from !== before.to) return `leaves ${from ?? 'nothing'}, but the task was in ${before.to}`
  return isLegal(entry, kept) ? null : `goes from ${from} to ${to} as ${entry.actor}`
}

function isLegal({ from, to, actor }: HistoryEntry, kept: readonly Phase[]): boolean {
  if (from === null || from === 'complete' || from === to) return false
  if (to === 'human_intervention') return true
  if (from === 'human_intervention') return actor === 'human'
  if (from === 'design' && actor !== 'human') return false
  // A project may have kept other phases at the time, so the next phase of the full table counts as well.
  const legal = [nextPhase(from, kept), nextPhase(from, phases), backPhase(from, phases)]
  return legal.includes(to)
}
