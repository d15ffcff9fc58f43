import { expect, test } from 'bun:test'
import { compileGlob, matchGlob } from '../../src/machine/glob.ts'

test('a pattern that can match nothing in the project is none', () => {
  expect(compileGlob('')).toBeNull()
  expect(compileGlob(' ')).toBeNull()
  expect(compileGlob('../x')).toBeNull()
})

test('names that may not be covered by chance need a part that says so', () => {
  const mayCover = (name: string, part: { literal: string } | null) => name !== 'no' || part?.literal === 'no'
  const matches = (pattern: string, path: string) => {
    const glob = compileGlob(pattern)
    return glob !== null && matchGlob(glob, path.split('/'), mayCover)
  }
  expect(matches('**', 'a/b')).toBe(true)
  expect(matches('**', 'a/no/b')).toBe(false)
  expect(matches('**/no/**', 'a/no/b')).toBe(true)
  expect(matches('a', 'a/no')).toBe(false)
  expect(matches('a/no', 'a/no/b')).toBe(true)
  expect(matches('a/no', 'a/no/no')).toBe(false)
  // The first place where a part could match is not the right one here.
  expect(matches('**/x/**/no', 'x/x/no')).toBe(true)
  expect(matches('**/x/*/no', 'x/a/x/b/no')).toBe(true)
})
