import { definePlugin, type SourceContext, type Violation, type WorkItem } from 'automaton'
import * as v from 'valibot'
import { backlogItems } from './backlog-items.ts'
import { unfinished } from './unfinished.ts'

/**
 * Rules whose violations an agent in a worktree could settle. The others are about automaton's own files, which agents
 * may not touch, or about halted loops, and a loop must not work on its own halt.
 */
export const workableRules = ['untested-source', 'design-names-missing-file', 'stale-task']

/** The violations of `automaton audit` that an agent could settle, worst first; then the backlog, if `area` names one. */
export default definePlugin({
  name: 'audit',
  api: 1,
  role: 'source',
  options: v.strictObject({
    /** The rules whose violations are worked; absent: every rule that an agent could settle. */
    rules: v.exactOptional(v.array(v.string())),
  }),
  setup: ({ options: { rules = workableRules } }) => ({
    source: {
      async find(ctx) {
        const wanted = (await ctx.audit()).filter(({ rule }) => rules.includes(rule))
        return once([...wanted.flatMap((violation) => workFor(violation, ctx)), ...(await backlogItems(ctx))])
      },
    },
  }),
})

/** What concerns a task is settled by working on that task. */
function workFor(violation: Violation, ctx: SourceContext): WorkItem[] {
  if (violation.task === null) return unfinished([newItem(violation)], ctx)
  const task = ctx.tasks.find((known) => known.task === violation.task)
  const isFree = task && task.claimed_by === null && ctx.phases.includes(task.phase)
  return isFree ? [{ task: task.task }] : []
}

function newItem({ id, severity, rule, path, message, fingerprint }: Violation) {
  const place = path === null ? '' : `\n- Where: \`${path}\``
  return {
    title: message,
    brief: `\`automaton audit\` found this, and it should be gone afterwards:\n\n- Rule: ${rule} (${severity})${place}\n- What: ${message}\n\nSettle its cause, and nothing else. Do not silence the rule.`,
    fingerprint,
    design_ref: `audit:${id}`,
    // Without the option the audit is of the primary checkout, where the finding stays until a person merges.
    acceptance_criteria: [`\`automaton audit --project .\` no longer reports ${id}`],
  }
}

/** Several violations can lead to one task. */
function once(items: readonly WorkItem[]): WorkItem[] {
  const keys = items.map((item) => ('task' in item ? `task ${item.task}` : item.fingerprint))
  return items.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}
