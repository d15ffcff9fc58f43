import * as v from 'valibot'
import { shape } from './issues.ts'
import * as is from './values.ts'

const says = v.description

const tierRule = 'a whole number of tokens, 4000 or more (a tick needs 16000)'
const tier = v.pipe(
  is.whole(tierRule),
  v.minValue(4000, tierRule),
  says('Context window in tokens. Under 16000 every tick is refused.'),
)
const model = v.pipe(
  v.nullable(is.text('a model id, or null')),
  says('Opaque id, handed to the harness as it is; null: models.json decides.'),
)

const roleOf = (prompt: string, tokens: number) => ({
  prompt: v.optional(is.text('a prompt file such as "loop-implement.md", or the prompt itself'), prompt),
  tier: v.optional(tier, tokens),
  model: v.optional(model, null),
})

/** An object that keeps keys that it does not know. */
const loose = <T extends v.ObjectEntries>(entries: T) => v.looseObject(entries, shape(Object.keys(entries)))

/** An object in which an unknown key is an error: a typo there would lift a brake. */
const strict = <T extends v.ObjectEntries>(entries: T) => v.strictObject(entries, shape(Object.keys(entries)))

const workSource = loose({
  kind: v.pipe(is.name, says('The source plugin that finds work: audit, backlog, single, or one of yours.')),
  area: v.optional(v.pipe(is.area, says('Items come from design/<area>/BACKLOG.md.')), null),
  task: v.optional(v.pipe(v.nullable(is.name), says('The task that a loop of kind single works.')), null),
  phases: v.optional(
    v.pipe(is.phaseList, says('The phases that this loop may work; null: all from implement to referee.')),
    null,
  ),
  options: v.optional(v.pipe(is.options, says('Options of the source plugin.')), {}),
  project: v.optional(v.never('nothing here: the project is chosen with --project DIR')),
})

const roles = loose({
  implement: v.optional(
    v.pipe(loose(roleOf('loop-implement.md', 32_000)), says('The session that makes the artifact.')),
    {},
  ),
  verify: v.optional(
    v.pipe(loose(roleOf('loop-verifier.md', 32_000)), says('The session that grades it.')),
    {},
  ),
  orchestrate: v.optional(
    v.pipe(
      loose({
        ...roleOf('loop-orchestrate.md', 16_000),
        mode: v.optional(
          v.pipe(
            is.oneOf(['session', 'rules']),
            says('rules: the verdict and the verdict line of the artifact decide; no session is spent.'),
          ),
          'session',
        ),
      }),
      says('The session that names the one operation of the tick.'),
    ),
    {},
  ),
  allow_same_model: v.optional(
    v.pipe(is.flag, says('Let one model implement and verify although models.json has several.')),
    false,
  ),
})

const verifier = loose({
  use: v.pipe(is.name, says('A verifier plugin: session, command, or one of yours.')),
  options: v.optional(v.pipe(is.options, says('Options of the verifier plugin.'))),
})

const brakes = strict({
  max_iterations: v.pipe(is.wholeFrom(1), says('Worked ticks between two approvals.')),
  max_budget_usd: v.optional(v.pipe(is.cap, says('US dollars between two approvals, as reported.')), null),
  max_tokens: v.optional(v.pipe(is.cap, says('Tokens between two approvals, as reported.')), null),
  max_wall_seconds: v.optional(v.pipe(is.cap, says('Seconds of work between two approvals.')), null),
  unknown_cost: v.optional(
    v.pipe(
      is.oneOf(['halt', 'ignore']),
      says('What a session that reports no cost means where max_budget_usd is set.'),
    ),
    'halt',
  ),
  score_plateau_window: v.optional(
    v.pipe(
      is.wholeFrom(0),
      says('Failed ticks with a flat or falling score before the loop halts; under 2 turns this off.'),
    ),
    3,
  ),
  score_epsilon: v.optional(
    v.pipe(is.amount('a number of 0 or more'), says('A score that rises by no more than this is flat.')),
    0.01,
  ),
  max_consecutive_errors: v.optional(
    v.pipe(is.wholeFrom(1), says('Failed sessions, or ticks that died, in a row before the loop halts.')),
    3,
  ),
})

const blastRadius = strict({
  worktree: v.optional(
    v.pipe(is.flag, says('Work in a git worktree of the loop; false: in the primary checkout.')),
    true,
  ),
  file_scope: v.optional(
    v.pipe(
      v.array(is.scopeEntry, 'a list of paths or globs'),
      says('Where the loop may change files; empty: the whole worktree but the protected files.'),
    ),
    [],
  ),
  base_branch: v.optional(v.pipe(is.branch, says('The branch that the loop starts from.')), 'main'),
  sandbox: v.optional(
    v.pipe(
      is.oneOf(['auto', 'required', 'off']),
      says('auto: use a file-system sandbox if there is one; required: no tick without one.'),
    ),
    'auto',
  ),
  primary: v.optional(
    v.pipe(
      is.oneOf(['report', 'halt']),
      says('What a change in the primary checkout during a session does.'),
    ),
    'report',
  ),
})

const outputs = loose({
  retention: v.optional(
    v.pipe(
      is.whole('a whole number of tick groups to keep; 0 keeps all'),
      says('Tick groups that outputs/ keeps; 0: all.'),
      v.transform((count) => Math.max(0, count)),
    ),
    20,
  ),
})

const schedule = loose({
  kind: v.optional(
    v.pipe(
      is.oneOf(['native', 'daemon', 'manual']),
      says('native: the scheduler of the system; daemon: only automaton daemon; manual: neither.'),
    ),
    'native',
  ),
  interval_seconds: v.optional(
    v.pipe(is.seconds, says('Seconds from the start of one tick to the start of the next.')),
    3600,
  ),
})

const harness = loose({
  use: v.optional(v.pipe(is.name, says('The harness plugin that drives the coding agent.')), 'opencode'),
  command: v.optional(
    v.pipe(
      is.command,
      says('Program and arguments to run instead; tokens such as {prompt} are filled, no shell is used.'),
    ),
    null,
  ),
  timeout_seconds: v.optional(v.pipe(is.seconds, says('The longest that one session may run.')), 3600),
  idle_seconds: v.optional(v.pipe(is.seconds, says('The longest that a session may say nothing.')), 900),
  env: v.optional(
    v.pipe(
      v.array(is.variable, 'a list of names of variables'),
      says('Names of variables that sessions may see besides the usual ones.'),
    ),
    [],
  ),
  writes: v.optional(
    v.pipe(
      v.array(is.folder, 'a list of folders'),
      says('Folders that sessions may write inside the sandbox, besides the worktree; ~/ is the home.'),
    ),
    [],
  ),
})

const criteria = v.pipe(
  v.union([v.string(), v.array(v.string())], 'a text or a list of texts'),
  says("The loop's goal, shown to the verifier; at most 8000 characters count."),
  v.transform((found) => (typeof found === 'string' ? [found] : found).filter((line) => line.trim() !== '')),
)

/** `loop.json`. Its output is a `LoopConfig`, with unknown keys kept outside of `brakes` and `blast_radius`. */
export const loopSchema = v.pipe(
  loose({
    $schema: v.optional(v.string('the address of a JSON Schema')),
    schema_version: v.optional(v.literal(1, '1'), 1),
    name: v.pipe(is.name, says('The name of the loop.')),
    description: v.optional(v.string('a text'), ''),
    work_source: v.pipe(
      workSource,
      v.title('Where work comes from'),
      v.forward(
        v.partialCheck(
          [['kind'], ['task']],
          ({ kind, task }) => kind !== 'single' || typeof task === 'string',
          'the name of a task, because kind is "single"',
        ),
        ['task'],
      ),
    ),
    acceptance_criteria: v.optional(criteria, []),
    roles: v.optional(v.pipe(roles, v.title('The sessions of a tick')), {}),
    verifiers: v.optional(
      v.pipe(
        v.array(verifier, 'a list of verifiers'),
        v.minLength(1, 'a list of at least one verifier'),
        v.title('Who grades, in order; all must pass'),
      ),
      [{ use: 'session' }],
    ),
    brakes: v.pipe(brakes, v.title('When the loop stops by itself')),
    blast_radius: v.optional(v.pipe(blastRadius, v.title('What the loop may touch')), {}),
    outputs: v.optional(v.pipe(outputs, v.title('What is kept of each tick')), {}),
    schedule: v.optional(v.pipe(schedule, v.title('When the loop ticks')), {}),
    harness: v.optional(v.pipe(harness, v.title('How sessions run')), {}),
  }),
  v.title('loop.json of automaton'),
  v.description('What one loop works on, when it stops, and what it may touch.'),
)
