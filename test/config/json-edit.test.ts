import { describe, expect, test } from 'bun:test'
import { setNumber } from '../../src/config/json-edit.ts'

const place = { section: 'schedule', key: 'interval_seconds' }

describe('a number in a JSON text', () => {
  test.each([
    [
      'is replaced where it stands',
      '{"schedule":{"interval_seconds":3600}}',
      '{"schedule":{"interval_seconds":60}}',
    ],
    [
      'leaves spaces, order, line ends and unknown keys alone',
      '{ "x" : [1, {"interval_seconds": 5}],\r\n\t"schedule": { "mine": "a\\"b}", "interval_seconds" : 36e2 ,\r\n "kind":"native" }}\r\n',
      '{ "x" : [1, {"interval_seconds": 5}],\r\n\t"schedule": { "mine": "a\\"b}", "interval_seconds" : 60 ,\r\n "kind":"native" }}\r\n',
    ],
    [
      'comes first in a section that lacks it',
      '{\n  "schedule": {\n    "kind": "native"\n  }\n}\n',
      '{\n  "schedule": {\n    "interval_seconds": 60,\n    "kind": "native"\n  }\n}\n',
    ],
    [
      'comes with its section',
      '{\n  "name": "x"\n}',
      '{\n  "schedule": { "interval_seconds": 60 },\n  "name": "x"\n}',
    ],
    ['comes into an empty section', '{"schedule":{}}', '{"schedule":{ "interval_seconds": 60 }}'],
    ['comes into an empty text', '\ufeff{ }', '\ufeff{ "schedule": { "interval_seconds": 60 } }'],
    ['needs no spaces', '{"a":"{","b":[]}', '{"schedule": { "interval_seconds": 60 }, "a":"{","b":[]}'],
  ])('%s', (_, before, after) => {
    const edited = setNumber(before, place, 60)
    expect(edited).toBe(after)
    expect(JSON.parse(edited.replace('\ufeff', '')).schedule.interval_seconds).toBe(60)
  })
})
