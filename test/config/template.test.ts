import { describe, expect, test } from 'bun:test'
import { loopJsonSchema } from '../../src/config/json-schema.ts'
import { loadLoopConfig } from '../../src/config/loop.ts'
import { fillTemplate } from '../../src/config/template.ts'

const file = 'backlog/loop.json'
const text = JSON.stringify({
  work_source: { kind: 'backlog', area: 'loops' },
  brakes: { max_iterations: 7 },
})

describe('fillTemplate', () => {
  test('writes every key, so that a person sees what there is', () => {
    const filled = fillTemplate({ file, text, name: 'nightly' })
    expect(Object.keys(JSON.parse(filled.text))).toEqual([
      'schema_version',
      'name',
      'description',
      'work_source',
      'acceptance_criteria',
      'roles',
      'verifiers',
      'brakes',
      'blast_radius',
      'outputs',
      'schedule',
      'harness',
    ])
    expect(filled.text).toEndWith('\n}\n')
    expect(filled.text).toContain('\n  "brakes": {\n    "max_iterations": 7,\n    "max_budget_usd": null,')
    expect(loadLoopConfig({ file, text: filled.text }).config).toEqual(filled.config)
  })

  test('each wish lands in its place', () => {
    const { config } = fillTemplate({
      file,
      text,
      name: 'nightly',
      harness: 'claude',
      intervalSeconds: 300,
      fileScope: ['src/'],
      baseBranch: 'trunk',
      worktree: false,
    })
    expect(config.harness.use).toBe('claude')
    expect(config.schedule.interval_seconds).toBe(300)
    expect(config.blast_radius).toMatchObject({ file_scope: ['src/'], base_branch: 'trunk', worktree: false })
    expect(config.work_source.area).toBe('loops')
  })

  test('a task makes a loop that works that one task', () => {
    const { work_source } = fillTemplate({ file, text, name: 'x', task: 'fix-login' }).config
    expect(work_source).toMatchObject({ kind: 'single', task: 'fix-login', area: null })
  })

  test('a source of the user keeps its kind and gets the task', () => {
    const own = JSON.stringify({ work_source: { kind: 'tickets' }, brakes: { max_iterations: 7 } })
    const { work_source } = fillTemplate({ file, text: own, name: 'x', task: 'fix-login' }).config
    expect(work_source).toMatchObject({ kind: 'tickets', task: 'fix-login' })
  })

  test('with two models the roles that must differ get different ones', () => {
    const models = { default: 'b', models: ['a', 'b'], roles: {} }
    const { roles } = fillTemplate({ file, text, name: 'x', models }).config
    expect([roles.implement.model, roles.verify.model]).toEqual(['b', 'a'])
    // What the template names stays; the other role gives way.
    const named = (role: string) => {
      const roles = { [role]: { model: 'b' } }
      return fillTemplate({ file, text: JSON.stringify({ ...JSON.parse(text), roles }), name: 'x', models })
    }
    expect(named('verify').config.roles.implement.model).toBe('a')
    expect(named('implement').config.roles.verify.model).toBe('a')
    const one = fillTemplate({ file, text, name: 'x', models: { ...models, models: ['b'] } }).config.roles
    expect([one.implement.model, one.verify.model]).toEqual([null, null])
  })

  test('a wish that is not allowed is an error, and so is a template with something else in the place of an object', () => {
    expect(() => fillTemplate({ file, text, name: 'No' })).toThrow('name is "No"')
    expect(() => fillTemplate({ file, text, name: 'x', fileScope: ['..'] })).toThrow('file_scope[0]')
    const broken = JSON.stringify({ blast_radius: 'none' })
    expect(() => fillTemplate({ file, text: broken, name: 'x' })).toThrow('blast_radius is "none"')
  })
})

test('editors get a JSON Schema that names every key, says what it is for, and knows the limits', async () => {
  const schema = await loopJsonSchema()
  expect(schema).toMatchObject({
    $schema: expect.stringContaining('json-schema.org'),
    title: 'loop.json of automaton',
    required: ['name', 'work_source', 'brakes'],
    properties: {
      brakes: {
        additionalProperties: false,
        properties: { max_iterations: { type: 'integer', minimum: 1, description: expect.any(String) } },
      },
      roles: { properties: { verify: { properties: { tier: { minimum: 4000, default: 32000 } } } } },
      harness: { properties: { command: { description: expect.any(String) } } },
    },
  })
})
