import { describe, expect, test } from 'bun:test'
import { readRecorded } from './read.ts'

const usage = { tokens: 360, input: 300, output: 60, cached: 0 }

describe('a recorded good run', () => {
  const runs: [name: string, usd: number | null, sessionId: unknown][] = [
    ['claude', 0.0024, expect.stringMatching(/^[0-9a-f-]{36}$/)],
    ['codex', null, expect.stringMatching(/^[0-9a-f-]{36}$/)],
    ['gemini', null, expect.stringMatching(/^[0-9a-f-]{36}$/)],
    ['qwen', null, expect.stringMatching(/^[0-9a-f-]{36}$/)],
    ['copilot', null, expect.stringMatching(/^[0-9a-f-]{36}$/)],
  ]
  test.each(runs)('of %s has its last words, its session and what it cost', async (name, usd, sessionId) => {
    const report = await readRecorded(name, 'done', 0)
    expect(report).toMatchObject({
      finalMessage: 'Done.\n{"pass":true}',
      sessionId,
      usage,
      finished: true,
      error: null,
    })
    if (usd === null) expect(report.usage.usd).toBeNull()
    else expect(report.usage.usd).toBeCloseTo(usd, 8)
  })
})

test.each(['claude', 'codex', 'gemini', 'qwen', 'copilot'])(
  'a run of %s without its closing event is not believed, whatever it had said: one that is told to stop may end with 0 too',
  async (name) => {
    const report = await readRecorded(name, 'done', 0, (lines) => lines.slice(0, -1))
    expect(report.finished).toBe(false)
  },
)

describe('a recorded failure', () => {
  const failures: [name: string, run: string, exitCode: number | null, kind: string, says: string][] = [
    ['claude', '401', 1, 'login', '401 scripted 401'],
    ['claude', '429', 1, 'rate_limit', '429'],
    ['claude', '500', 1, 'other', '500 scripted 500'],
    ['claude', 'credit', 1, 'credit', 'Credit balance is too low'],
    ['claude', 'nologin', 1, 'login', 'Not logged in'],
    ['claude', 'refused', 1, 'other', 'API Error'],
    ['codex', '401', 1, 'login', '401 Unauthorized'],
    ['codex', '429', 1, 'rate_limit', '429 Too Many Requests'],
    ['codex', '500', 1, 'overloaded', 'high demand'],
    ['codex', 'quota', 1, 'credit', 'Quota exceeded'],
    ['codex', 'limit', 1, 'rate_limit', 'hit your usage limit'],
    ['codex', 'nokey', 1, 'login', 'Missing environment variable'],
    // It waits for a network without an end, and is killed.
    ['codex', 'refused', null, 'other', 'waiting for network'],
    ['gemini', '401', 145, 'login', 'scripted 401'],
    ['gemini', '429', 173, 'rate_limit', 'scripted 429'],
    ['gemini', '500', 244, 'other', 'scripted 500'],
    ['gemini', 'quota', 173, 'credit', 'exceeded your current quota'],
    ['gemini', 'nologin', 41, 'login', 'Please set an Auth method'],
    ['gemini', 'refused', 1, 'other', 'fetch failed'],
    ['qwen', '401', 1, 'login', '401 scripted 401'],
    ['qwen', '500', 1, 'other', '500 scripted 500'],
    // It waits for minutes between two tries, and is killed.
    ['qwen', 'quota', null, 'credit', 'exceeded your current quota'],
    ['qwen', 'nologin', 1, 'config', 'No auth type is selected'],
    ['qwen', 'refused', 1, 'other', 'Connection error'],
    ['copilot', '401', 1, 'login', 'HTTP 401'],
    ['copilot', '429', 1, 'rate_limit', '429 scripted 429'],
    ['copilot', '500', 1, 'other', '500 scripted 500'],
    ['copilot', 'quota', 1, 'credit', 'exceeded your current quota'],
    ['copilot', 'nologin', 1, 'login', 'No authentication information found'],
  ]
  test.each(failures)('of %s (%s, exit %p) is of kind %s', async (name, run, exitCode, kind, says) => {
    const report = await readRecorded(name, run, exitCode)
    expect(report).toMatchObject({ finished: false, finalMessage: null, error: { kind } })
    expect(report.error?.message).toContain(says)
  })

  test('of codex tells until when its limit lasts, by the clock of this machine', async () => {
    const { error } = await readRecorded('codex', 'limit', 1)
    const until = new Date(error?.retryAt ?? '')
    expect([until.getHours(), until.getMinutes()]).toEqual([22, 6])
  })
})
