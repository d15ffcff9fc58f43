import { expect, test } from 'bun:test'
import { fingerprint } from '../../src/api/fingerprint.ts'

test('a fingerprint stays the same while the words do', () => {
  expect(fingerprint('Add  X\n', 'b')).toBe(fingerprint(' add x', 'B'))
  expect(fingerprint('caf\u00e9')).toBe(fingerprint('cafe\u0301'))
  expect(fingerprint('add x')).toMatch(/^[0-9a-f]{64}$/)
})

test('parts do not run into each other', () => {
  expect(fingerprint('a', 'b c')).not.toBe(fingerprint('a b', 'c'))
  expect(fingerprint('a')).not.toBe(fingerprint('a', ''))
})
