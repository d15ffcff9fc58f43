import { describe, expect, test } from 'bun:test'
import { loadLoopConfig } from '../../src/config/loop.ts'
import { AutomatonError } from '../../src/errors.ts'

const file = '/p/.automaton/loops/nightly/loop.json'
const smallest = { name: 'nightly', work_source: { kind: 'backlog' }, brakes: { max_iterations: 5 } }

/** The example of the contract, every default as it is there. */
const full = {
  schema_version: 1,
  name: 'nightly',
  description: '',
  work_source: { kind: 'backlog', area: null, task: null, phases: null, options: {} },
  acceptance_criteria: [],
  roles: {
    implement: { prompt: 'loop-implement.md', tier: 32000, model: null },
    verify: { prompt: 'loop-verifier.md', tier: 32000, model: null },
    orchestrate: { prompt: 'loop-orchestrate.md', tier: 16000, model: null, mode: 'session' },
    allow_same_model: false,
  },
  verifiers: [{ use: 'session' }],
  brakes: {
    max_iterations: 5,
    max_budget_usd: null,
    max_tokens: null,
    max_wall_seconds: null,
    unknown_cost: 'halt',
    score_plateau_window: 3,
    score_epsilon: 0.01,
    max_consecutive_errors: 3,
  },
  blast_radius: { worktree: true, file_scope: [], base_branch: 'main', sandbox: 'auto', primary: 'report' },
  outputs: { retention: 20 },
  schedule: { kind: 'native', interval_seconds: 3600 },
  harness: { use: 'opencode', command: null, timeout_seconds: 3600, idle_seconds: 900, env: [], writes: [] },
}

function load(config: unknown) {
  return loadLoopConfig({ file, text: JSON.stringify(config) })
}

/** The smallest valid file with one value replaced. */
function withValue(path: string, value: unknown): Record<string, unknown> {
  const config: Record<string, unknown> = structuredClone(smallest)
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  let at = config
  for (const key of keys) {
    const next: Record<string, unknown> = { ...Object(at[key]) }
    at[key] = next
    at = next
  }
  at[last] = value
  return config
}

function errorOf(run: () => unknown): AutomatonError {
  try {
    run()
  } catch (error) {
    if (error instanceof AutomatonError) return error
    throw error
  }
  throw new Error('it did not throw')
}

describe('defaults', () => {
  test('the smallest file gets every default of the contract', () => {
    expect(load(smallest)).toStrictEqual({ config: full as never, warnings: [] })
  })

  test('a full file comes back as it is', () => {
    expect(load(full).config).toStrictEqual(full as never)
  })

  test('acceptance criteria may be one text', () => {
    expect(load({ ...smallest, acceptance_criteria: 'tests pass' }).config.acceptance_criteria).toEqual([
      'tests pass',
    ])
  })

  test('a byte order mark is no mistake', () => {
    expect(loadLoopConfig({ file, text: `\ufeff${JSON.stringify(smallest)}` }).config.name).toBe('nightly')
  })

  test('a scope is written without its leading ./, and . is the whole worktree', () => {
    const { config } = load(withValue('blast_radius.file_scope', ['./src/', '.', 'docs/**']))
    expect(config.blast_radius.file_scope).toEqual(['src/', '**', 'docs/**'])
  })
})

describe('errors', () => {
  const cases: [path: string, value: unknown, shown?: string][] = [
    ['name', undefined],
    ['name', 'Nightly'],
    ['name', 'com1'],
    ['schema_version', 2],
    ['work_source.kind', undefined],
    ['work_source.kind', ''],
    ['work_source.project', '/elsewhere'],
    ['work_source.area', '../secrets'],
    ['work_source.phases', []],
    ['work_source.phases', ['design'], 'work_source.phases[0]'],
    ['work_source.options', []],
    ['roles', []],
    ['roles.verify', []],
    ['verifiers', [[]], 'verifiers[0]'],
    ['acceptance_criteria', 3],
    ['roles.verify.tier', 3999],
    ['roles.verify.tier', true],
    ['roles.verify.tier', '32000'],
    ['roles.verify.prompt', ''],
    ['roles.orchestrate.mode', 'none'],
    ['roles.allow_same_model', 'yes'],
    ['verifiers', []],
    ['verifiers', [{}], 'verifiers[0].use'],
    ['brakes', undefined],
    ['brakes.max_iterations', undefined],
    ['brakes.max_iterations', 0],
    ['brakes.max_iterations', 1.5],
    ['brakes.max_iterations', true],
    ['brakes.max_iterations', null],
    ['brakes.max_budget_usd', -1],
    ['brakes.max_budget_usd', '5'],
    ['brakes.max_tokens', -0.5],
    ['brakes.max_wall_seconds', false],
    ['brakes.unknown_cost', 'warn'],
    ['brakes.score_epsilon', -0.01],
    ['brakes.score_plateau_window', -1],
    ['brakes.max_consecutive_errors', 0],
    ['brakes.max_iteration', 5],
    ['blast_radius.worktre', false],
    ['blast_radius.worktree', 1],
    ['blast_radius.file_scope', 'src/'],
    ['blast_radius.file_scope', ['../x'], 'blast_radius.file_scope[0]'],
    ['blast_radius.file_scope', ['src/../../x'], 'blast_radius.file_scope[0]'],
    ['blast_radius.file_scope', ['/etc'], 'blast_radius.file_scope[0]'],
    ['blast_radius.file_scope', ['C:\\x'], 'blast_radius.file_scope[0]'],
    ['blast_radius.file_scope', [''], 'blast_radius.file_scope[0]'],
    ['blast_radius.base_branch', '--upload-pack=x'],
    ['blast_radius.base_branch', 'a b'],
    ['blast_radius.sandbox', true],
    ['blast_radius.primary', 'ignore'],
    ['outputs.retention', 1.5],
    ['schedule.kind', 'cron'],
    ['schedule.interval_seconds', 0],
    ['harness.timeout_seconds', 0],
    ['harness.timeout_seconds', -1],
    ['harness.timeout_seconds', 1e12],
    ['harness.timeout_seconds', '30d'],
    ['harness.idle_seconds', 0],
    ['harness.command', []],
    ['harness.command', ''],
    ['harness.command', ['']],
    ['harness.command', ['a', 1], 'harness.command[1]'],
    ['harness.env', ['A=B'], 'harness.env[0]'],
    ['harness.writes', ['relative'], 'harness.writes[0]'],
  ]

  for (const [path, value, shown = path] of cases) {
    test(`${path} = ${JSON.stringify(value)} is refused, naming file, path, found and allowed`, () => {
      const error = errorOf(() => load(withValue(path, value)))
      expect(error.code).toBe('bad_config')
      expect(error.exit).toBe(2)
      expect(error.message).toStartWith(`bad configuration (${file}): ${shown} is `)
      expect(error.message).toMatch(/; allowed: ./)
    })
  }

  test('a number that JSON can write but nothing can hold is refused', () => {
    const text = JSON.stringify(withValue('brakes.max_budget_usd', 'BIG')).replace('"BIG"', '1e999')
    expect(errorOf(() => loadLoopConfig({ file, text })).message).toContain(
      'brakes.max_budget_usd is a number too large',
    )
  })

  test('the project belongs on the command line', () => {
    expect(errorOf(() => load(withValue('work_source.project', '/x'))).message).toContain('--project DIR')
  })

  test('kind single needs a task', () => {
    const error = errorOf(() => load({ ...smallest, work_source: { kind: 'single' } }))
    expect(error.message).toContain('work_source.task is null; allowed: the name of a task')
    expect(
      load({ ...smallest, work_source: { kind: 'single', task: 'fix-login' } }).config.work_source.task,
    ).toBe('fix-login')
  })

  test('an unknown brake names the brakes that there are', () => {
    expect(errorOf(() => load(withValue('brakes.max_iteration', 5))).message).toContain(
      'brakes.max_iteration is not a known key; allowed: max_iterations, max_budget_usd',
    )
  })

  test('a copied folder does not pass for the loop that it was', () => {
    const text = JSON.stringify(smallest)
    expect(loadLoopConfig({ file, text, loop: 'nightly' }).config.name).toBe('nightly')
    expect(errorOf(() => loadLoopConfig({ file, text, loop: 'other' })).message).toContain(
      'name is "nightly"',
    )
  })

  test('a mistake in the JSON is named by line and column', () => {
    const error = errorOf(() => loadLoopConfig({ file, text: '{\n  "name": "x",\n}' }))
    expect(error.message).toContain('line 3, column 1 is not JSON (a comma stands before the closing brace)')
    expect(errorOf(() => loadLoopConfig({ file, text: '' })).message).toContain('line 1, column 1')
  })

  test('a file that holds no object is refused', () => {
    expect(errorOf(() => loadLoopConfig({ file, text: '[]' })).message).toContain('allowed: a JSON object')
  })
})

test.each<[what: string, change: object, says: RegExp]>([
  [
    'brakes',
    { brakes: { max_iteratons: 5 } },
    /brakes\.max_iteratons is not a known key;.*did you mean "max_iterations"\?/,
  ],
  [
    'brakes, right beside it',
    { brakes: { max_iterations: 5, max_budget: 3 } },
    /brakes\.max_budget is not a known key/,
  ],
  ['blast_radius', { blast_radius: { sandbx: 'off' } }, /blast_radius\.sandbx .*did you mean "sandbox"\?/],
  ['a key with a dot', { brakes: { max_iterations: 5, 'a.b': 1 } }, /brakes\["a\.b"\] is not a known key/],
  [
    'a key that is needed',
    { brakes: undefined, braks: { max_iterations: 5 } },
    /brakes is missing;.*is "braks" meant to be it\?/,
  ],
])('a mistyped key in %s is named, and the one that was meant', (_, change, says) => {
  expect(() => load({ ...smallest, ...change })).toThrow(says)
})

describe('warnings', () => {
  test('of an unknown key name the one that was meant, unless that is there too', () => {
    const { warnings } = load({ ...smallest, harness: { usee: 'x' }, outputs: { retention: 3, retenton: 4 } })
    expect(warnings[0]).toContain('harness.usee (kept, but nothing reads it; did you mean "use"?)')
    expect(warnings[1]).toContain('outputs.retenton (kept, but nothing reads it; is it a typo?)')
  })

  test('an unknown key elsewhere is kept, and said', () => {
    const { config, warnings } = load({
      ...smallest,
      note: 1,
      roles: { verify: { temperature: 0 } },
      verifiers: [{ use: 'session', why: 'x' }],
    })
    expect(warnings.map((line) => line.split(' ')[2])).toEqual([
      'note',
      'roles.verify.temperature',
      'verifiers[0].why',
    ])
    expect(config).toMatchObject({ note: 1, roles: { verify: { temperature: 0, tier: 32000 } } })
  })

  test('options belong to plugins and are not looked into', () => {
    const { config, warnings } = load({
      ...smallest,
      work_source: { kind: 'mine', options: { any: { thing: 1 } } },
    })
    expect(config.work_source.options).toEqual({ any: { thing: 1 } })
    expect(warnings).toEqual([])
  })

  test('the key that editors read is known', () => {
    expect(load({ ...smallest, $schema: './loop.schema.json' }).warnings).toEqual([])
  })

  test('a negative retention keeps everything, and says so', () => {
    const { config, warnings } = load({ ...smallest, outputs: { retention: -3 } })
    expect(config.outputs.retention).toBe(0)
    expect(warnings).toHaveLength(1)
  })
})

test('reading loop.json loads no package but valibot', async () => {
  const seen: string[] = []
  const built = await Bun.build({
    entrypoints: [`${import.meta.dir}/../../src/config/loop.ts`],
    target: 'bun',
    packages: 'external',
  })
  for (const line of ((await built.outputs[0]?.text()) ?? '').matchAll(/from "([^".][^"]*)"/g))
    seen.push(line[1] ?? '')
  expect([...new Set(seen)]).toEqual(['valibot'])
})
