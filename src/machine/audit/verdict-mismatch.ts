import type { Phase } from '../../api/work.ts'
import { backPhase, nextPhase, verdictWays } from '../phase-table.ts'
import type { HistoryEntry, TaskState } from '../task.ts'
import { eachTask } from './tracked.ts'
import type { AuditRule } from './types.ts'

/** A review that was left another way than its artifact's `Verdict:` line says. */
export const verdictMismatch: AuditRule = {
  name: 'verdict-mismatch',
  severity: 'HIGH',
  isWorkable: false,
  find: (facts) =>
    eachTask(facts, (state, { verdicts }) =>
      lastExits(state).flatMap(({ from, to }) => {
        const ways = verdictWays(from)
        const word = verdicts[from]
        if (ways === null || word === undefined) return []
        const way = word === null ? undefined : ways[word]
        const leads = way === 'back' ? backPhase(from, facts.kept) : nextPhase(from, facts.kept)
        if (way !== undefined && way !== 'blocked' && (leads === null || leads === to)) return []
        return [
          { at: from, message: `${from} was left for ${to}, but its artifact says ${word ?? 'nothing'}` },
        ]
      }),
    ),
}

/** The last step out of each phase; not out of the one that the task is in again, whose artifact may be newer. */
function lastExits({ phase, history }: TaskState): (HistoryEntry & { from: Phase })[] {
  const exits = new Map<Phase, HistoryEntry & { from: Phase }>()
  for (const entry of history) {
    const { from, to } = entry
    if (from !== null && from !== phase) exits.set(from, { ...entry, from, to })
  }
  // Anyone may call a person at any time, whatever the artifact says.
  return [...exits.values()].filter(({ to }) => to !== 'human_intervention')
}
