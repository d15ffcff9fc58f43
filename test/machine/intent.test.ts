import { describe, expect, test } from 'bun:test'
import { findIntent, type Intent, parseIntent } from '../../src/machine/intent.ts'
import { isLinear, seeded } from './builders.ts'

const transition: Intent = { action: 'transition', to: 'code_review', reason: 'passed' }

describe('an intent file', () => {
  test.each<[string, Intent]>([
    ['{"action": "transition", "to": "code_review", "reason": "passed"}', transition],
    ['{"action": "transition", "to": "code_review"}', { ...transition, reason: '' }],
    [
      ' {"action": "Transition", "to": " CODE_REVIEW ", "reason": " passed ", "by": {"session": 1}}\r\n',
      transition,
    ],
    ['{"action": "escalate", "reason": "no access"}', { action: 'escalate', reason: 'no access' }],
    ['{"action": "hold"}', { action: 'hold', reason: '' }],
    ['\uFEFF{"action": "hold", "reason": "wait"}', { action: 'hold', reason: 'wait' }],
  ])('%j', (text, intent) => {
    expect(parseIntent(text)).toEqual(intent)
  })

  test.each([
    ['', 'no JSON object'],
    ['hold', 'no JSON object'],
    ['{"to": "complete"}', 'no JSON object'],
    ['{"action": "approve"}', '"action" is not'],
    ['{"action": "approve", "loop": "x"}', '"action" is not'],
    ['{"action": null}', '"action" is not'],
    ['{"action": ["hold"]}', '"action" is not'],
    ['{"action": "transition"}', '"to" is no phase'],
    ['{"action": "transition", "to": "../x"}', '"to" is no phase'],
    ['{"action": "transition", "to": {"action": "hold"}}', '"to" is no phase'],
    ['{"action": "escalate"}', 'needs a reason'],
    ['{"action": "escalate", "reason": "  "}', 'needs a reason'],
    ['{"action": "hold"} {"action": "hold"}', 'more than one operation'],
    ['[{"action": "hold"}]', 'more than one JSON object'],
    ['{"x": 1} {"action": "hold"}', 'more than one JSON object'],
    ['I hold. {"action": "hold"}', 'more than one JSON object'],
    ['{"action": "hold", "action": "escalate", "reason": "x"}', 'twice'],
    ['{"action": "transition", "to": "complete", "to": "referee"}', 'twice'],
    [`{"action": "hold", "reason": "${'x'.repeat(1_100_000)}"}`, 'longer'],
  ])('%# is unreadable', (text, why) => {
    expect(parseIntent(text)).toEqual({ unreadable: expect.stringContaining(why) })
  })

  test('a reason is cut to 1,000 characters', () => {
    const intent = parseIntent(JSON.stringify({ action: 'escalate', reason: 'x'.repeat(5000) }))
    expect('reason' in intent && intent.reason.length).toBe(1000)
  })
})

describe('an intent in a final message', () => {
  const json = JSON.stringify(transition)

  test.each([json, `Done.\n\`\`\`json\n${json}\n\`\`\`\n`, `I chose ${json}.`, `${json}\n${json}`])(
    '%#',
    (message) => {
      expect(findIntent(message)).toEqual(transition)
    },
  )

  test.each([
    '',
    'nothing to do',
    '{"action": "approve"}',
    `${json} or rather {"action": "hold"}`,
    `{"plan": ${json}}`,
    `${json.slice(0, -1)}`,
    `${json}\n{"action": "approve"}`,
  ])('%# means hold', (message) => {
    expect(findIntent(message)).toBeNull()
  })

  test('garbage never throws, and never moves a task', () => {
    const next = seeded(3)
    const pieces = [
      '{',
      '}',
      '"action"',
      ':',
      '"transition"',
      '"hold"',
      ',',
      '"to"',
      '"',
      '\n',
      '[',
      ']',
      '\\',
    ]
    for (let i = 0; i < 3000; i++) {
      const text = Array.from({ length: next(40) }, () => pieces[next(pieces.length)]).join('')
      expect(findIntent(text)?.action ?? 'hold').toBe('hold')
      parseIntent(text)
    }
  })

  test('the search is linear', () => {
    const open = (n: number) => '{"action": '.repeat(n)
    expect(isLinear((text) => void findIntent(text), open, 5000)).toBe(true)
  })
})
