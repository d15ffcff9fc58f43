import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeProject, must } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'

// Agents that npm does not have: a program of their name does what they would, and says it as they document it.

/** An agent's program, what it prints for its last words, and what that adds up to. */
interface Fake {
  name: string
  program: string
  /** One session's output, with words before its tools that are no answer. */
  prints(words: string): string
  cost: { usd: number; tokens: number }
  /** A flag without which it would wait for a person. */
  flag: string
  /** It runs no commands, and ends with what to do. */
  silent?: true
}

const lines = (...events: object[]) => `${events.map((event) => JSON.stringify(event)).join('\n')}\n`
const early = '{"pass": false, "score": 0}'
const said = (text: string) => ({
  type: 'assistant',
  session_id: 's1',
  message: {
    role: 'assistant',
    content: [{ type: 'text', text }],
    usage: { input_tokens: 90, output_tokens: 10 },
  },
})
const part = (text: string) => ({
  type: 'message',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})

const fakes: Fake[] = [
  {
    name: 'cursor',
    program: 'cursor-agent',
    prints: (words) =>
      lines(
        { type: 'system', subtype: 'init', session_id: 's1', apiKeySource: 'login' },
        said(early),
        { type: 'tool_call', subtype: 'started', session_id: 's1', tool_call: {} },
        { type: 'tool_call', subtype: 'completed', session_id: 's1', tool_call: {} },
        said(words),
        { type: 'result', subtype: 'success', is_error: false, result: early + words, session_id: 's1' },
      ),
    cost: { usd: 0, tokens: 0 },
    flag: '--force',
  },
  {
    name: 'amp',
    program: 'amp',
    prints: (words) =>
      lines(
        { type: 'system', subtype: 'init', session_id: 's1' },
        said(early),
        { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: early }] } },
        said(words),
        { type: 'result', subtype: 'success', is_error: false, result: words, session_id: 's1' },
      ),
    cost: { usd: 0, tokens: 3 * 200 },
    flag: '--dangerously-allow-all',
  },
  {
    name: 'goose',
    program: 'goose',
    prints: (words) =>
      lines(
        part(early),
        { type: 'message', message: { role: 'assistant', content: [{ type: 'toolRequest', id: 't' }] } },
        part(words.slice(0, 5)),
        part(words.slice(5)),
        { type: 'complete', total_tokens: 150 },
      ),
    cost: { usd: 0, tokens: 3 * 150 },
    flag: '--no-session',
  },
  {
    name: 'aider',
    program: 'aider',
    prints: (words) =>
      [
        'Aider v0.86.1',
        'Main model: m with diff edit format',
        'Repo-map: disabled',
        early,
        '',
        'Tokens: 1.2k sent, 100 received. Cost: $0.01 message, $0.01 session.',
        'Applied edit to src/greeting.txt',
        words,
        '',
        'Tokens: 1.5k sent, 50 received. Cost: $0.02 message, $0.03 session.',
        '',
      ].join('\n'),
    cost: { usd: 3 * 0.03, tokens: 3 * 2850 },
    flag: '--yes-always',
    silent: true,
  },
]

const program = `#!/bin/sh
file=
for word; do [ "$last" = --message-file ] && file=$word; last=$word; done
cat $file > "$HOME/prompt-$AUTOMATON_ROLE"
printf '%s\\n' "$@" > "$HOME/argv-$AUTOMATON_ROLE"
if [ "$AUTOMATON_ROLE" = implement ]; then echo hello > src/greeting.txt; fi
if [ "$AUTOMATON_ROLE" = orchestrate ] && [ ! -e "$HOME/silent" ]; then
  automaton transition "$AUTOMATON_TASK" code_review --reason 'the verdict passed' > /dev/null
fi
cat "$HOME/says-$AUTOMATON_ROLE"
`

test.each(fakes)('$name works a whole tick by what it documents', async (fake) => {
  using p = await makeProject({
    loop: {
      harness: { use: fake.name, command: null },
      roles: {
        orchestrate: { prompt: 'loop-orchestrate.md', tier: 128_000, model: 'pinned', mode: 'session' },
      },
    },
  })
  const verdict = '{"pass": true, "score": 0.9, "reasons": ["it is there"], "next_hint": ""}'
  const action = '{"action": "transition", "to": "code_review", "reason": "the verdict passed"}'
  writeFiles(p.home, {
    [`bin/${fake.program}`]: program,
    'says-implement': fake.prints('Wrote the file.'),
    'says-verify': fake.prints(verdict),
    'says-orchestrate': fake.prints(fake.silent ? action : 'It moves on.'),
    ...(fake.silent ? { silent: '' } : {}),
  })
  const env = { PATH: `${join(p.home, 'bin')}:${process.env.PATH}` }
  const call = await must(p.call(['tick', p.loop, '--json'], { env }))
  expect(call.json()).toMatchObject({
    outcome: 'worked',
    to: 'code_review',
    verdict: { pass: true, score: 0.9 },
    warnings: [],
  })
  expect(p.git('show', 'automaton/nightly:src/greeting.txt')).toBe('hello')
  expect(p.state().cost.tokens).toBe(fake.cost.tokens)
  expect(p.state().cost.usd).toBeCloseTo(fake.cost.usd, 8)

  const left = (name: string) => readFileSync(join(p.home, name), 'utf8')
  expect(left('prompt-implement')).toStartWith('# Implement\n')
  expect(left('prompt-verify')).toContain('Wrote the file.')
  expect(left('argv-implement').split('\n')).toContain(fake.flag)
  expect(left('argv-implement')).not.toContain('pinned')
  expect(left('argv-orchestrate').split('\n')).toContain('pinned')
})
