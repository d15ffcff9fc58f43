import { describe, expect, test } from 'bun:test'
import { type Phase, phases } from '../../src/api/work.ts'
import { artifactOf, keptPhases, loopPhases, nextPhase } from '../../src/machine/phases.ts'

const all = keptPhases(null)

describe('the phase table', () => {
  test('the artifact names are those of the contract', () => {
    expect(Object.fromEntries(phases.map((phase) => [phase, artifactOf(phase)]))).toEqual({
      design: null,
      decompose: 'TASK.md',
      implement: 'IMPLEMENTATION.md',
      code_review: 'CODE_REVIEW.md',
      bug_hunt: 'BUG_REPORT.md',
      adversarial_review: 'ADVERSARIAL_BUG_REPORT.md',
      referee: 'REFEREE.md',
      complete: null,
      human_intervention: null,
    })
  })

  test('loops work implement to referee', () => {
    expect(loopPhases).toEqual(['implement', 'code_review', 'bug_hunt', 'adversarial_review', 'referee'])
  })

  test('forward goes through every phase to complete, and no further', () => {
    const walked: Phase[] = []
    for (let phase: Phase | null = 'design'; phase !== null; phase = nextPhase(phase, all)) walked.push(phase)
    expect(walked).toEqual(['design', 'decompose', ...loopPhases, 'complete'])
    expect(nextPhase('human_intervention', all)).toBeNull()
  })

  test('a subset keeps its order, complete and human_intervention', () => {
    expect(keptPhases(['code_review', 'implement'])).toEqual([
      'implement',
      'code_review',
      'complete',
      'human_intervention',
    ])
  })

  test('forward means the next phase that is kept, from a phase that no longer is as well', () => {
    const kept = keptPhases(['implement', 'referee'])
    expect(nextPhase('implement', kept)).toBe('referee')
    expect(nextPhase('bug_hunt', kept)).toBe('referee')
    expect(nextPhase('referee', kept)).toBe('complete')
  })
})
