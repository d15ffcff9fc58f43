import {
  definePlugin,
  fingerprint,
  type RunResult,
  type SourceContext,
  type TaskView,
  type WorkItem,
} from 'automaton'
import * as v from 'valibot'
import { commandList, commandsOrNone, timeoutOption } from '../verifiers/command-options.ts'
import { failedCases } from './ci-junit.ts'

const optionsSchema = v.strictObject({
  /** The checks: each must exit with 0. */
  commands: commandList,
  /** What has to run before them, such as `npm ci`. When that fails nothing is known, and no task is made. */
  prepare: commandsOrNone,
  /** Globs of the JUnit XML reports that the checks write: then each failed test is a task. */
  junit: v.optional(v.array(v.pipe(v.string(), v.nonEmpty('a glob'))), []),
  /** Seconds for each program; by default 600. */
  timeout: timeoutOption,
  /** Names of variables that the programs see besides the usual ones. */
  env: v.optional(v.array(v.string()), []),
})

type Options = v.InferOutput<typeof optionsSchema>

/** A check that failed. */
interface Failure {
  /** Its name: the same in every run. */
  id: string
  title: string
  /** What a person would see of it. */
  report: string
  command: string
}

const tailLength = 4000
const mostItems = 100
/** Why the task of a check that passes is put aside; by this a later failure of the check is known to be a new one. */
const passesAgain = 'the check passes again on the base branch'

/**
 * Runs the project's checks on the base branch. Each failing check is one task, for as long as it fails: when it passes
 * again, the open task is put aside, and a later failure makes a new one.
 */
export default definePlugin({
  name: 'ci',
  api: 1,
  role: 'source',
  options: optionsSchema,
  setup: ({ options }) => ({
    source: {
      async find(ctx) {
        const failures = await runChecks(ctx, options)
        const items = failures.slice(0, mostItems).map((failure) => itemOf(failure, ctx))
        const failing = new Set(items.map((item) => item.fingerprint))
        const isWaiting = failures.length > 0 && (await ctx.unmerged())
        return [...closings(ctx, failing), ...offers(ctx, items, isWaiting)]
      },
    },
  }),
})

async function runChecks(ctx: SourceContext, options: Options): Promise<Failure[]> {
  const { commands, prepare, timeout, env, junit } = options
  const limits = { timeoutSeconds: timeout, env }
  for (const command of prepare) {
    const result = await ctx.runOnBase(command, limits)
    if (result.exitCode === 0) continue
    throw new Error(
      `\`${command.join(' ')}\` ${how(result)}, so the checks were not run: ${tailOf(result, 500)}`,
    )
  }
  const seen = new Map<string, string>()
  const failures = new Map<string, Failure>()
  for (const command of commands) {
    ctx.log(`checking the base branch: ${command.join(' ')}`)
    const result = await ctx.runOnBase(command, limits)
    const cases = (await reportsOf(ctx, junit, seen)).flatMap(failedCases)
    const own = cases.map((one) => caseFailure(one, command))
    if (own.length === 0 && result.exitCode !== 0) own.push(commandFailure(command, result))
    for (const failure of own) if (!failures.has(failure.id)) failures.set(failure.id, failure)
  }
  return [...failures.values()]
}

/** The reports that are new, or that the last check wrote again. */
async function reportsOf(ctx: SourceContext, globs: readonly string[], seen: Map<string, string>) {
  const fresh: string[] = []
  for (const glob of globs) {
    for (const { path, text } of await ctx.baseFiles(glob)) {
      if (seen.get(path) !== text) fresh.push(text)
      seen.set(path, text)
    }
  }
  return fresh
}

function caseFailure(
  { id, file, text }: ReturnType<typeof failedCases>[number],
  command: readonly string[],
): Failure {
  const place = file === '' ? '' : `It is in \`${file}\`.\n\n`
  return { id, title: `Failing test: ${id}`, report: `${place}${fence(text)}`, command: command.join(' ') }
}

function commandFailure(command: readonly string[], result: RunResult): Failure {
  const line = command.join(' ')
  const report = `It ${how(result)}. Its output ended with:\n\n${fence(tailOf(result, tailLength))}`
  return { id: line, title: `Failing check: ${line}`, report, command: line }
}

function how({ exitCode, timedOut, seconds }: RunResult): string {
  if (timedOut) return `took longer than ${seconds.toFixed(0)} s`
  return exitCode === null ? 'was killed' : `exited with ${exitCode}`
}

function tailOf({ output }: RunResult, length: number): string {
  return output.trimEnd().slice(-length)
}

function fence(text: string): string {
  return text.trim() === '' ? '(it printed nothing)' : `~~~~\n${text.replaceAll('~~~~', '~ ~ ~ ~')}\n~~~~`
}

function itemOf(failure: Failure, { tasks, loop }: SourceContext) {
  const { id, title, report, command } = failure
  return {
    title: title.replaceAll(/\s+/g, ' ').slice(0, 200),
    brief: `\`${command}\` fails on the base branch: **${id}**\n\n${report}\n\nRepair the cause. Skip, weaken or delete no test.`,
    fingerprint: currentFingerprint(id, tasks),
    design_ref: `${markOf(loop)}${id.slice(0, 200)}`,
    acceptance_criteria: [`\`${command}\` passes: ${id}`],
  }
}

/** Each time that a check fails anew has a name of its own, or the task of the last time would stand in for it. */
function currentFingerprint(id: string, tasks: readonly TaskView[]): string {
  for (let time = 1; ; time++) {
    const mark = fingerprint('ci', id, String(time))
    const isOver = tasks.some(({ origin, phase, blocked_reason }) => {
      return origin.fingerprint === mark && phase === 'human_intervention' && blocked_reason === passesAgain
    })
    if (!isOver) return mark
  }
}

/** Each loop has checks of its own, and says nothing about those of another. */
function markOf(loop: string): string {
  return `ci:${loop}:`
}

/** Open tasks of this loop's checks, of which the check no longer fails. */
function closings({ tasks, loop }: SourceContext, failing: ReadonlySet<string>): WorkItem[] {
  return tasks
    .filter(({ design_ref, claimed_by, phase, origin }) => {
      const isOpen = claimed_by === null && phase !== 'complete' && phase !== 'human_intervention'
      return isOpen && design_ref?.startsWith(markOf(loop)) === true && !failing.has(origin.fingerprint ?? '')
    })
    .map(({ task }) => ({ task, close: passesAgain }))
}

/**
 * A finished task whose work is not merged yet still fails on the base branch: it is not made again. One that was merged,
 * or dropped, is.
 */
function offers(
  { tasks, phases }: SourceContext,
  items: readonly ReturnType<typeof itemOf>[],
  isWaiting: boolean,
): WorkItem[] {
  return items.flatMap((item): WorkItem[] => {
    const made = tasks.filter(({ origin }) => origin.fingerprint === item.fingerprint)
    const open = made.find(({ phase }) => phase !== 'complete')
    if (open) return open.claimed_by === null && phases.includes(open.phase) ? [{ task: open.task }] : []
    return made.length > 0 && isWaiting ? [] : [item]
  })
}
