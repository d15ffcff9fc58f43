import { fingerprint } from '../api/fingerprint.ts'
import { severities, type Violation } from '../api/work.ts'
import { designNamesMissingFile } from './audit/design-names-missing-file.ts'
import { haltedLoop } from './audit/halted-loop.ts'
import { illegalHistoryEdge } from './audit/illegal-history-edge.ts'
import { missingArtifact } from './audit/missing-artifact.ts'
import { missingDesignReference } from './audit/missing-design-reference.ts'
import { modelConflict } from './audit/model-conflict.ts'
import { orphanClaim } from './audit/orphan-claim.ts'
import { phaseHistoryMismatch } from './audit/phase-history-mismatch.ts'
import { scheduleUnit } from './audit/schedule-unit.ts'
import { sessionConflict } from './audit/session-conflict.ts'
import { staleTask } from './audit/stale-task.ts'
import type { AuditFacts, AuditRule } from './audit/types.ts'
import { unreadableState } from './audit/unreadable-state.ts'
import { untestedSource } from './audit/untested-source.ts'
import { untrackedTask } from './audit/untracked-task.ts'
import { verdictMismatch } from './audit/verdict-mismatch.ts'

export { mentionedFiles } from './audit/design-names-missing-file.ts'
export type { AuditFacts, AuditLoop, AuditTask } from './audit/types.ts'

/** Every rule of the audit. */
export const auditRules: readonly AuditRule[] = [
  unreadableState,
  untrackedTask,
  illegalHistoryEdge,
  phaseHistoryMismatch,
  missingArtifact,
  verdictMismatch,
  sessionConflict,
  modelConflict,
  orphanClaim,
  missingDesignReference,
  untestedSource,
  designNamesMissingFile,
  haltedLoop,
  staleTask,
  scheduleUnit,
]

/** What is wrong in a project: most severe first, then by fingerprint, so that the order is the same on every run. */
export function audit(facts: AuditFacts): Violation[] {
  const found = new Map<string, Violation>()
  for (const rule of auditRules) {
    for (const violation of violations(rule, facts)) found.set(violation.fingerprint, violation)
  }
  return [...found.values()].sort(
    (a, b) =>
      rank(a) - rank(b) || (a.fingerprint < b.fingerprint ? -1 : Number(a.fingerprint > b.fingerprint)),
  )
}

/** Whether an agent in a worktree could put right what the rule finds; a loop must not work on its own halt. */
export function mayBeWorked(rule: string): boolean {
  return auditRules.some(({ name, isWorkable }) => name === rule && isWorkable)
}

function violations({ name, severity, find }: AuditRule, facts: AuditFacts): Violation[] {
  return find(facts).map(({ place, task, path, message }) => ({
    id: `${name}:${place}`,
    severity,
    rule: name,
    task,
    path,
    message,
    fingerprint: fingerprint(name, place),
  }))
}

function rank({ severity }: Violation): number {
  return severities.indexOf(severity)
}
