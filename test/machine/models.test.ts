import { describe, expect, test } from 'bun:test'
import type { Role } from '../../src/api/harness.ts'
import type { Phase } from '../../src/api/work.ts'
import type { Models } from '../../src/machine/config.ts'
import { countModels, resolveModel } from '../../src/machine/models.ts'
import { loopPhases } from '../../src/machine/phases.ts'
import { makeConfig } from './builders.ts'

function configWith(pins: Partial<Record<Role, string>>) {
  const { roles } = makeConfig()
  return makeConfig({
    roles: {
      ...roles,
      implement: { ...roles.implement, model: pins.implement ?? null },
      verify: { ...roles.verify, model: pins.verify ?? null },
      orchestrate: { ...roles.orchestrate, model: pins.orchestrate ?? null },
    },
  })
}

const two: Models = { default: 'a', models: ['a', 'b'], roles: { verify: 'b' } }

function resolve(
  role: Role,
  o: { phase?: Phase | null; pins?: Partial<Record<Role, string>>; models?: Models | null },
) {
  const { phase = 'implement', pins = {}, models = null } = o
  return resolveModel({ role, phase, config: configWith(pins), models })
}

describe('the order of preference', () => {
  test('the loop, then the role in models.json, then its default, then the harness', () => {
    expect(resolve('verify', { pins: { verify: 'x' }, models: two })).toBe('x')
    expect(resolve('verify', { models: two })).toBe('b')
    expect(resolve('implement', { models: two })).toBe('a')
    expect(resolve('implement', {})).toBeNull()
    expect(resolve('implement', { models: { default: null, models: [], roles: {} } })).toBeNull()
  })
})

describe('review phases', () => {
  test.each(loopPhases.slice(1).map((phase) => [phase]))(
    'in %s implement and verify change places',
    (phase) => {
      expect(resolve('implement', { phase, models: two })).toBe('b')
      expect(resolve('verify', { phase, models: two })).toBe('a')
      expect(resolve('orchestrate', { phase, models: two })).toBe('a')
    },
  )

  test('the loop’s own models change places too', () => {
    const pins = { implement: 'x', verify: 'y' }
    expect(resolve('implement', { phase: 'referee', pins, models: two })).toBe('y')
  })

  test('with one model nothing changes places', () => {
    const one: Models = { default: 'a', models: ['a'], roles: {} }
    const pins = { implement: 'a', verify: 'v' }
    expect(resolve('implement', { phase: 'referee', pins, models: one })).toBe('a')
    expect(resolve('implement', { phase: 'referee', pins })).toBe('a')
  })

  test('without a phase nothing changes places', () => {
    expect(resolve('implement', { phase: null, models: two })).toBe('a')
  })
})

test('models are counted by their ids, wherever models.json names them', () => {
  expect(countModels(null)).toBe(0)
  expect(countModels({ default: 'a', models: ['a', 'a'], roles: {} })).toBe(1)
  expect(countModels({ default: 'a', models: [], roles: { verify: 'b' } })).toBe(2)
  expect(countModels(two)).toBe(2)
})
