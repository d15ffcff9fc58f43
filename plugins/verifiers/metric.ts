import { definePlugin, type RunResult, type VerifierResult, type VerifyContext } from 'automaton'
import * as v from 'valibot'
import { argv, protectOption, timeoutOption } from './command-options.ts'
import { readNumber } from './metric-number.ts'

const optionsSchema = v.strictObject({
  /** Prints the number. */
  command: argv,
  /** Where better is. */
  direction: v.picklist(['up', 'down']),
  target: v.pipe(v.number(), v.finite()),
  /** A regular expression; its first group, or the whole match, is the number. Without it the last number counts. */
  pattern: v.exactOptional(
    v.pipe(
      v.string(),
      v.check((source) => isPattern(source), 'a regular expression'),
    ),
  ),
  /** `target`: the target has to be reached. `improvement`: it is enough to be better than every tick that passed. */
  pass: v.optional(v.picklist(['target', 'improvement']), 'target'),
  /** What the score counts from; without it the base commit is measured once. */
  from: v.exactOptional(v.pipe(v.number(), v.finite())),
  timeout: timeoutOption,
  protect: protectOption,
})

type Options = v.InferOutput<typeof optionsSchema>

/**
 * Grades by a number that a program prints. The score is how far it has come from its start towards the target. The best
 * number of the ticks that passed is kept for as long as the branch starts from the same commit.
 */
export default definePlugin({
  name: 'metric',
  api: 1,
  role: 'verifier',
  options: optionsSchema,
  setup: ({ options }) => ({
    verifier: { free: true, verify: (ctx) => measure(ctx, options) },
  }),
})

async function measure(ctx: VerifyContext, options: Options): Promise<VerifierResult> {
  const { command, timeout, protect, pattern, target, direction } = options
  const what = `\`${command.join(' ').slice(0, 300)}\``
  const result = await ctx.run(command, { timeoutSeconds: timeout, fromBase: protect })
  const value = numberOf(result, pattern)
  if (typeof value === 'string') return fail(`${what} ${value}`, result)
  const start = await startOf(ctx, options)
  const before = ctx.memory.best
  const best = typeof before === 'number' ? before : start
  const isThere = reaches(value, target, direction)
  const isBetter = best !== null && !reaches(best, value, direction)
  const pass = isThere || (options.pass === 'improvement' && isBetter)
  await ctx.remember(
    { best: best !== null && reaches(best, value, direction) ? best : value },
    { ifPassed: true },
  )
  const reason = `${what} measured ${value}; best so far ${best ?? 'unknown'}, target ${target}`
  return {
    verdict: {
      pass,
      score: progress({ value, start, target, isThere }),
      reasons: [reason],
      next_hint: pass ? '' : `${reason}. It has to go ${direction}.`,
    },
    warnings: [],
  }
}

/** What the base commit measures, so that a first tick has something to be compared with. Null when that cannot be told. */
async function startOf(
  ctx: VerifyContext,
  { command, timeout, pattern, from }: Options,
): Promise<number | null> {
  if (from !== undefined) return from
  if (typeof ctx.memory.start === 'number') return ctx.memory.start
  if (!ctx.hasBase || ctx.memory.start === false) return null
  const start = numberOf(await ctx.run(command, { timeoutSeconds: timeout, fromBase: ['**'] }), pattern)
  // A base without the number is not measured again each tick.
  await ctx.remember({ start: typeof start === 'number' ? start : false })
  return typeof start === 'number' ? start : null
}

/** The number, or what went wrong. */
function numberOf({ exitCode, timedOut, stdout }: RunResult, pattern: string | undefined): number | string {
  if (timedOut) return 'took too long'
  if (exitCode !== 0) return exitCode === null ? 'was killed' : `exited with ${exitCode}`
  return readNumber(stdout, pattern) ?? 'printed no number'
}

function fail(what: string, { output }: RunResult): VerifierResult {
  const tail = output.trimEnd().slice(-2000)
  const next_hint = `${what}, so nothing was measured.${tail === '' ? '' : ` Its output ended with:\n${tail}`}`
  return {
    verdict: { pass: false, score: 0, reasons: [what, ...(tail === '' ? [] : [tail])], next_hint },
    warnings: [],
  }
}

/** Whether the first number is at least as good as the second. */
function reaches(value: number, other: number, direction: 'up' | 'down'): boolean {
  return direction === 'up' ? value >= other : value <= other
}

/** The way from the start to the target that is behind, 0 to 1. */
function progress(o: { value: number; start: number | null; target: number; isThere: boolean }): number {
  const { value, start, target, isThere } = o
  if (isThere) return 1
  if (start === null || start === target) return 0
  return Math.min(1, Math.max(0, (value - start) / (target - start)))
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp
  } catch {
    return false
  }
}
