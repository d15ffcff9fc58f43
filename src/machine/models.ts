import type { Role } from '../api/harness.ts'
import type { Phase } from '../api/work.ts'
import type { LoopConfig, Models } from './config.ts'
import { isReview } from './phase-table.ts'

/**
 * The model that a role's session runs, an opaque id: the loop's own, else `models.json`'s for the role, else its
 * default, else null (the harness decides). With two or more models, implement and verify change places in the review
 * phases, so that a task is never reviewed by the model that implemented it.
 */
export function resolveModel(of: {
  role: Role
  phase: Phase | null
  config: LoopConfig
  models: Models | null
}): string | null {
  const swaps = of.phase !== null && isReview(of.phase) && countModels(of.models) >= 2
  const role = swaps ? swapped[of.role] : of.role
  return of.config.roles[role].model ?? of.models?.roles[role] ?? of.models?.default ?? null
}

/** How many different models `models.json` names; 0 without one. */
export function countModels(models: Models | null): number {
  if (models === null) return 0
  const named = [...models.models, ...Object.values(models.roles), models.default]
  return new Set(named.filter((id) => id !== null)).size
}

const swapped: Record<Role, Role> = {
  implement: 'verify',
  verify: 'implement',
  orchestrate: 'orchestrate',
}
