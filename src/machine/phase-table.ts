import { type Phase, phases } from '../api/work.ts'

interface Row {
  /** What must lie in the task's folder before the phase is left; null: no file. */
  artifact: string | null
  /** The words that its `Verdict:` line may hold, and where each leads. */
  verdicts: Readonly<Record<string, 'forward' | 'back' | 'blocked'>> | null
  back: Phase | null
}

/** The phase machine of the contract (section 4). */
const table = {
  design: { artifact: null, verdicts: null, back: null },
  decompose: { artifact: 'TASK.md', verdicts: null, back: 'design' },
  implement: { artifact: 'IMPLEMENTATION.md', verdicts: null, back: null },
  code_review: {
    artifact: 'CODE_REVIEW.md',
    verdicts: { PASS: 'forward', CHANGES: 'back' },
    back: 'implement',
  },
  bug_hunt: { artifact: 'BUG_REPORT.md', verdicts: { CLEAN: 'forward', BUGS: 'back' }, back: 'implement' },
  adversarial_review: { artifact: 'ADVERSARIAL_BUG_REPORT.md', verdicts: null, back: null },
  referee: {
    artifact: 'REFEREE.md',
    verdicts: { APPROVED: 'forward', FIX: 'back', BLOCKED: 'blocked' },
    back: 'implement',
  },
  complete: { artifact: null, verdicts: null, back: null },
  human_intervention: { artifact: null, verdicts: null, back: null },
} as const satisfies Record<Phase, Row>

const rows: Record<Phase, Row> = table

/** The phases that a loop may work, in order. */
export const loopPhases: readonly Phase[] = [
  'implement',
  'code_review',
  'bug_hunt',
  'adversarial_review',
  'referee',
]

const reviews: ReadonlySet<Phase> = new Set(['code_review', 'bug_hunt', 'adversarial_review', 'referee'])

/** Whether the phase judges what another session made, so that the conflict rule holds for it. */
export function isReview(phase: Phase): boolean {
  return reviews.has(phase)
}

/** The file, in the task's folder, that is needed to leave the phase; null for phases that need none. */
export function artifactOf(phase: Phase): string | null {
  return rows[phase].artifact
}

/** The words that the phase's `Verdict:` line may hold, and where each leads; null for a phase without such a line. */
export function verdictWays(phase: Phase): Row['verdicts'] {
  return rows[phase].verdicts
}

/** The phases of a project that keeps `subset` (null: all), in their fixed order; the two that end work are always kept. */
export function keptPhases(subset: Phase[] | null): Phase[] {
  if (subset === null) return [...phases]
  return phases.filter(
    (phase) => subset.includes(phase) || phase === 'complete' || phase === 'human_intervention',
  )
}

/** The kept phase that follows; null after the last. Works for a phase that the project no longer keeps, too. */
export function nextPhase(phase: Phase, kept: readonly Phase[]): Phase | null {
  if (phase === 'complete' || phase === 'human_intervention') return null
  const later = phases.slice(phases.indexOf(phase) + 1)
  return later.find((next) => next !== 'human_intervention' && kept.includes(next)) ?? null
}

/** The phase that the table's way back leads to; null when there is none, or when the project does not keep it. */
export function backPhase(phase: Phase, kept: readonly Phase[]): Phase | null {
  const { back } = rows[phase]
  return back !== null && kept.includes(back) ? back : null
}
