import { definePlugin, fingerprint, type RunResult, type WorkItem } from 'automaton'
import * as v from 'valibot'
import { argv, timeoutOption } from '../verifiers/command-options.ts'
import { at, readRecords } from './command-records.ts'
import { unfinished } from './unfinished.ts'

const optionsSchema = v.strictObject({
  /** Prints work items as JSON: one object a line, or one list of objects. */
  command: argv,
  /** By default 600. */
  timeout: timeoutOption,
  /** Names of variables that the program sees besides the usual ones, such as `GH_TOKEN`. */
  env: v.optional(v.array(v.string()), []),
  /** Where the list is in what it prints, such as `data.issues.nodes`; by default the whole. */
  items: v.exactOptional(v.pipe(v.string(), v.nonEmpty('names with dots between'))),
  /** The program's names for ours, with dots for what lies deeper: `{"id": "number", "brief": "body"}`. */
  fields: v.optional(
    v.partial(
      v.strictObject({
        id: v.string(),
        title: v.string(),
        brief: v.string(),
        url: v.string(),
        scope: v.string(),
        acceptance_criteria: v.string(),
      }),
    ),
    {},
  ),
  /** What the ids are ids of: two sources of one name share their tasks. By default the program's name. */
  name: v.exactOptional(v.pipe(v.string(), v.nonEmpty('a name'))),
  /** At most so many items are looked at; by default 100. */
  limit: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1000)), 100),
})

type Options = v.InferOutput<typeof optionsSchema>

const longestTitle = 200
const longestBrief = 20_000
const absent = ['null', 'undefined', '']

const text = v.pipe(v.union([v.string(), v.number()], 'a text or a number is expected'), v.transform(String))
const words = v.optional(v.nullable(v.array(v.string('a text is expected'), 'a list of texts is expected')))
const itemSchema = v.object({
  id: v.pipe(text, v.trim(), v.nonEmpty('it is empty')),
  title: v.pipe(text, v.trim(), v.nonEmpty('it is empty')),
  brief: v.optional(v.nullable(text)),
  url: v.optional(v.nullable(text)),
  scope: words,
  acceptance_criteria: words,
})

/**
 * Work items of any program: that is how issues of GitHub, Jira or Linear come in. What the program prints is checked
 * item by item; one that is not well-formed is an error that names it, because a list that is half read looks complete.
 */
export default definePlugin({
  name: 'command',
  api: 1,
  role: 'source',
  options: optionsSchema,
  setup: ({ options }) => ({
    source: {
      async find(ctx) {
        const { command, timeout, env, items: path, limit } = options
        const result = await ctx.run(command, { timeoutSeconds: timeout, env })
        if (result.exitCode !== 0)
          throw new Error(`\`${command.join(' ')}\` ${how(result)}: ${tailOf(result)}`)
        const records = readRecords(result.stdout, path)
        if (records.length > limit)
          ctx.log(`${records.length} items, of which the first ${limit} are looked at`)
        return unfinished(
          records.slice(0, limit).map((record, index) => itemOf(record, index, options)),
          ctx,
        )
      },
    },
  }),
})

function itemOf(
  record: unknown,
  index: number,
  options: Options,
): Extract<WorkItem, { fingerprint: string }> {
  const { fields, command, name = command[0] ?? '' } = options
  const named = Object.fromEntries(
    Object.keys(itemSchema.entries).map((key) => [key, at(record, Reflect.get(fields, key) ?? key)]),
  )
  const parsed = v.safeParse(itemSchema, named)
  if (!parsed.success) {
    const [issue] = parsed.issues
    const key = String(issue.path?.[0]?.key ?? 'it')
    throw new Error(`item ${index + 1} of the program's output: ${key}: ${issueWords(issue)}`)
  }
  const { id, title, brief, url, scope, acceptance_criteria: criteria } = parsed.output
  const body = (brief ?? '').slice(0, longestBrief)
  const link = url && !absent.includes(url) ? `From ${url}` : ''
  return {
    title: title.replaceAll(/\s+/g, ' ').slice(0, longestTitle),
    brief: [body.trim() || title, link].filter((part) => part !== '').join('\n\n'),
    fingerprint: fingerprint('command', name, id),
    design_ref: url && link !== '' ? url : `${name}:${id}`,
    ...(scope?.length ? { scope } : {}),
    ...(criteria?.length ? { acceptance_criteria: criteria } : {}),
  }
}

function issueWords({ input, message }: v.BaseIssue<unknown>): string {
  return input === undefined ? 'it is missing' : message
}

function how({ exitCode, timedOut, seconds }: RunResult): string {
  if (timedOut) return `took longer than ${seconds.toFixed(0)} s`
  return exitCode === null ? 'was killed' : `exited with ${exitCode}`
}

function tailOf({ output }: RunResult): string {
  return output.trim().slice(-500) || 'it printed nothing'
}
