import { describe, expect, test } from 'bun:test'
import { findObjects, nested } from '../../src/machine/objects.ts'

const fields = (text: string, key = 'k') =>
  findObjects(text, key).map((object) => Object.fromEntries(object.fields))

describe('objects in a text', () => {
  test('are listed in order, with their values', () => {
    expect(fields('a {"k": 1} b {"x": 2} c {"k": [true, null, "t", {"k": 3}], "n": -1.5e2}')).toEqual([
      { k: 1 },
      { k: [true, null, 't', nested], n: -150 },
    ])
  })

  test('are not listed when they are inside another one', () => {
    expect(fields('{"a": {"k": 1}}')).toEqual([])
    expect(fields('{"a": [{"k": 1}], "k": 2}')).toEqual([{ a: [nested], k: 2 }])
  })

  test('are listed when the braces around them mean nothing', () => {
    expect(fields('{ set {"k": 1} }')).toEqual([{ k: 1 }])
    expect(fields('}}}} {"k": 1} {{{')).toEqual([{ k: 1 }])
  })

  test('are not listed inside a broken one that names the key', () => {
    expect(fields('{"k": 0, ! {"k": 1}} and {"k": 2}')).toEqual([{ k: 2 }])
  })

  test('are not listed at all when the last one that names the key is broken or cut off', () => {
    expect(fields('{"k": 1} {"k": }')).toEqual([])
    expect(fields('{"k": 1} {"k": ')).toEqual([])
    expect(fields('{"k": 1} {"x": ')).toEqual([{ k: 1 }])
  })

  test('tell which keys differ when they come twice', () => {
    const [object] = findObjects('{"k": 1, "a": 1, "a": 1, "b": [1], "b": [2], "c": {}, "c": {}}', 'k')
    expect([...(object?.conflicts ?? [])]).toEqual(['b', 'c'])
  })
})

test('what JSON.parse takes for an object is found as one, with the same keys', () => {
  const samples = [
    '{}',
    '{"k":{}}',
    ' {"k" : [ ] , "\\n\\u0041" : "\\\\" } ',
    '{"k":[[[1,2],[]],{"a":{"b":[]}}]}',
    '{"k":0.5E+3}',
  ]
  for (const text of samples) {
    const keys = Object.keys(JSON.parse(text))
    expect(fields(text).map((found) => Object.keys(found))).toEqual(keys.includes('k') ? [keys] : [])
  }
})

test('what JSON.parse refuses is not found', () => {
  const broken = [
    '{"k":1,}',
    '{k:1}',
    '{"k":.5}',
    '{"k":1.}',
    '{"k":+1}',
    '{"k":0x1}',
    '{"k":undefined}',
    '{"k":"\t"}',
    '{"k":"\\x"}',
    '{"k":[1,]}',
    '{"k" 1}',
    '{"k":1 "a":2}',
    '{,"k":1}',
  ]
  for (const text of broken) {
    expect(() => JSON.parse(text)).toThrow()
    expect(fields(text)).toEqual([])
  }
})
