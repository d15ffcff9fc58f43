import * as v from 'valibot'
import { deaths } from '../api/hooks.ts'
import { phases } from '../api/work.ts'
import type { LoopState } from '../machine/state.ts'
import type { TaskState } from '../machine/task.ts'

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const amount = v.pipe(v.number(), v.finite())
const time = v.pipe(v.string(), v.isoTimestamp())
const phase = v.picklist(phases)
const cost = { usd: amount, tokens: amount }
const text = v.string()
const maybe = v.nullable(v.string())
const byPhase = v.record(phase, text)

/** `.state.loop` without its link to the log: what a log record keeps. */
export const LoopRecordSchema = v.strictObject({
  schema_version: v.literal(1),
  name: text,
  seq: count,
  status: v.picklist(['running', 'paused', 'halted', 'complete']),
  halt: v.nullable(
    v.strictObject({ id: text, reason: v.picklist(deaths), detail: text, at: time, files: v.array(text) }),
  ),
  iteration_count: count,
  iteration_base: count,
  resumed_count: count,
  wall_seconds: amount,
  wall_base: amount,
  cost: v.strictObject({ ...cost, reported: v.boolean() }),
  cost_base: v.strictObject(cost),
  current_task: maybe,
  current_phase: v.nullable(phase),
  claimed_at: v.nullable(time),
  last_task: maybe,
  score_history: v.array(amount),
  fail_streak: count,
  consecutive_errors: count,
  incomplete_ticks: count,
  // States of before this field are read as well.
  not_before: v.optional(v.nullable(time), null),
  next_hint: text,
  last_verdict: v.nullable(
    v.strictObject({
      pass: v.boolean(),
      score: amount,
      reasons: v.array(text),
      next_hint: text,
      tick: count,
      phase,
      task: text,
    }),
  ),
  base_sha: maybe,
  verified_sha: maybe,
  phase_sha: maybe,
  schedule: v.strictObject({ enabled: v.boolean(), kind: maybe }),
  created_at: time,
  last_tick_at: v.nullable(time),
  last_work_at: v.nullable(time),
  updated_at: time,
})

/** `.state.loop`. */
export const LoopStateSchema = v.strictObject({
  ...LoopRecordSchema.entries,
  log_head: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
})

/** `<tasks>/<task>/.state`. */
export const TaskStateSchema = v.strictObject({
  schema_version: v.literal(2),
  task: text,
  phase,
  previous_phase: v.nullable(phase),
  blocked_reason: maybe,
  claimed_by: maybe,
  design_ref: maybe,
  scope: v.array(text),
  acceptance_criteria: v.array(text),
  origin: v.strictObject({ kind: text, fingerprint: maybe }),
  sessions: byPhase,
  models: byPhase,
  history: v.array(
    v.strictObject({
      seq: count,
      at: time,
      from: v.nullable(phase),
      to: phase,
      actor: text,
      session: maybe,
      model: maybe,
      note: text,
    }),
  ),
  created_at: time,
  updated_at: time,
})

const identity = v.strictObject({ pid: count, start: text, boot: text })

/** `run.json`. */
export const RunRecordSchema = v.strictObject({
  schema: v.literal(1),
  run: text,
  loop: text,
  tick: count,
  task: maybe,
  phase: v.nullable(phase),
  step: v.picklist(['find', 'implement', 'verify', 'orchestrate', 'settle']),
  automaton: identity,
  session: v.nullable(v.strictObject({ pid: count, group: count, start: text })),
  started_at: time,
  state_seq: count,
  before: v.strictObject({ head: maybe, verified_sha: maybe, base_sha: maybe }),
  brakes: v.record(text, text),
  repository: v.optional(
    v.nullable(
      v.object({
        head: v.object({ branch: maybe, commit: maybe }),
        refs: v.nullable(v.record(text, text)),
        settings: v.nullable(v.record(text, text)),
        files: v.record(text, text),
        logLines: count,
        baseLogs: v.optional(v.record(text, count), {}),
        shallow: v.optional(text, ''),
        sides: v.optional(v.nullable(v.record(text, v.record(text, text))), {}),
      }),
    ),
    null,
  ),
  usage: v.strictObject({ usd: v.nullable(amount), tokens: amount, unreported: count }),
})

/** What is wrong with a value, in one line: where, what was found, what is allowed. */
export function firstIssue(issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]): string {
  const [issue] = issues
  const path = v.getDotPath(issue)
  return `${path ? `${path}: ` : ''}${issue.message}`
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
type Output<S extends v.GenericSchema> = v.InferOutput<S>

// These lines do not compile when a schema and its type part.
true satisfies Same<Output<typeof LoopStateSchema>, LoopState>
true satisfies Same<Output<typeof LoopRecordSchema>, Omit<LoopState, 'log_head'>>
true satisfies Same<Output<typeof TaskStateSchema>, TaskState>
