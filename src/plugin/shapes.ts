import * as v from 'valibot'

const method = v.function('a function is expected')
const line = v.pipe(v.string(), v.trim(), v.nonEmpty('it is empty'))
const taskName = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'it is no task name'))
const count = v.pipe(v.number(), v.finite(), v.minValue(0))
const usd = v.nullable(count)

const existingTask = v.object({ task: taskName, close: v.exactOptional(line) })
/** In characters: what a task is made of must be a file that automaton reads again. */
const longestTitle = 500
const longestBrief = 5 << 20
const newTask = v.object({
  title: v.pipe(line, v.transform(firstLine)),
  brief: v.pipe(v.string(), v.maxLength(longestBrief, `it has more than ${longestBrief} characters`)),
  fingerprint: v.pipe(v.string(), v.nonEmpty('it is empty')),
  design_ref: v.exactOptional(v.string()),
  scope: v.exactOptional(v.array(v.string())),
  acceptance_criteria: v.exactOptional(v.array(v.string())),
})

/** What `find` answers. The two kinds are told apart before they are checked, so that an error names the missing key. */
export const workItems = v.array(v.lazy((item) => (has(item, 'task') ? existingTask : newTask)))

const readVerdict = v.object({
  verdict: v.object({
    pass: v.boolean(),
    score: v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(1)),
    reasons: v.array(v.string()),
    next_hint: v.string(),
  }),
  warnings: v.array(v.string()),
})
const unreadable = v.object({ unreadable: v.string(), raw: v.string() })

/** What `verify` answers. */
export const verifierResult = v.lazy((result) => (has(result, 'unreadable') ? unreadable : readVerdict))

const argument = v.pipe(
  v.string(),
  v.check((text) => !text.includes('\0'), 'it holds a NUL character'),
)

/** What `command` answers. */
export const sessionCommand = v.object({
  argv: v.pipe(
    v.array(argument),
    v.check(([program]) => program !== undefined && program !== '', 'a program is expected first'),
  ),
  stdin: v.exactOptional(v.string()),
  env: v.exactOptional(v.record(v.pipe(v.string(), v.regex(/^[^=\0]+$/)), argument)),
  notes: v.exactOptional(v.array(v.string())),
  report: v.exactOptional(v.pipe(v.string(), v.regex(/^[\w-][\w.-]*$/, 'a file name is expected'))),
})

/** What a reader's `end` answers. */
export const sessionReport = v.object({
  finalMessage: v.nullable(v.string()),
  sessionId: v.nullable(v.string()),
  usage: v.object({
    usd,
    tokens: usd,
    input: v.exactOptional(count),
    output: v.exactOptional(count),
    cached: v.exactOptional(count),
  }),
  finished: v.boolean(),
  error: v.nullable(
    v.object({
      kind: v.picklist(['login', 'credit', 'rate_limit', 'overloaded', 'config', 'other']),
      message: v.string(),
      retryAt: v.exactOptional(v.string()),
    }),
  ),
})

/** What the hook `tokens:estimate` answers. */
export const tokenCount = count

/** What a scheduler's `inspect` answers. */
export const unitState = v.object({
  installed: v.boolean(),
  enabled: v.boolean(),
  drift: v.array(v.string()),
  warnings: v.optional(v.array(v.string())),
})

/** A reader, whose methods are called on the object itself. */
export const reader = v.object({ line: method, end: method })

const names = v.array(v.pipe(v.string(), v.nonEmpty()))

/** What `setup` answers; only its shape is looked at, the object itself is used. */
export const pluginRolesShape = v.strictObject({
  source: v.optional(v.object({ find: method })),
  verifier: v.optional(v.object({ free: v.optional(v.boolean()), verify: method })),
  harness: v.optional(
    v.object({
      programs: names,
      remote: v.optional(v.boolean()),
      env: v.optional(names),
      writes: v.optional(names),
      login: v.optional(names),
      command: method,
      reader: method,
    }),
  ),
  scheduler: v.optional(
    v.object({ install: method, remove: method, enable: method, disable: method, inspect: method }),
  ),
  hooks: v.optional(v.record(v.string(), method)),
})

function has(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && key in value
}

/** A title is one short line: it becomes a task's name and a heading. */
function firstLine(text: string): string {
  return (text.split(/\r?\n/, 1)[0]?.trim() ?? text).slice(0, longestTitle)
}
