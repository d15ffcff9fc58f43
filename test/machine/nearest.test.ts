import { expect, test } from 'bun:test'
import { distance, nearest } from '../../src/machine/nearest.ts'

test('the distance counts insertions, deletions and replacements', () => {
  expect(distance('kitten', 'sitting')).toBe(3)
  expect(distance('', 'abc')).toBe(3)
  expect(distance('same', 'same')).toBe(0)
})

test('a typing error finds its word, a foreign word finds none', () => {
  const words = ['status', 'sync', 'schema', 'create-loop']
  expect(nearest('stauts', words)).toBe('status')
  expect(nearest('createloop', words)).toBe('create-loop')
  expect(nearest('deploy-everything', words)).toBeNull()
  expect(nearest('y', ['x'])).toBeNull()
})

test('the beginning of a word finds it, however long it is', () => {
  expect(nearest('crea', ['create-loop', 'repair'])).toBe('create-loop')
})
