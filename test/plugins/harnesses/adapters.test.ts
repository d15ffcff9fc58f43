import { describe, expect, test } from 'bun:test'
import { sessionRequest } from '../../contract/harness.ts'
import { automaton } from '../../helpers/cli.ts'
import { host, read } from './read.ts'

const command = async (name: string, change: Parameters<typeof sessionRequest>[0] = {}) =>
  (await host.harness(name)).command(sessionRequest(change))

const byStdin = ['amp', 'claude', 'codex', 'copilot', 'cursor', 'gemini', 'goose', 'opencode', 'qwen']

describe('every adapter', () => {
  test.each(byStdin)('%s gets its prompt by standard input, and never as an argument', async (name) => {
    const { argv, stdin } = await command(name)
    expect(stdin).toBe('Do the thing.')
    expect(argv.join(' ')).not.toContain('Do the thing.')
  })

  test.each([...byStdin, 'aider'])('%s names no model where none is set', async (name) => {
    const { argv } = await command(name)
    const pinned = await command(name, { model: 'a/b' })
    expect(pinned.argv.filter((word) => !argv.includes(word))).toHaveLength(2)
  })

  test.each([...byStdin, 'aider'])('%s sees no key that opens a repository or an account', async (name) => {
    const { env } = await host.harness(name)
    expect(env.length).toBeGreaterThan(0)
    const open = [
      'GITHUB_TOKEN',
      'GH_TOKEN',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'GOOGLE_APPLICATION_CREDENTIALS',
    ]
    for (const secret of open) expect(env).not.toContain(secret)
  })

  test('only those that drive a service leave the memory of this machine out of account', async () => {
    const remote = await Promise.all(
      [...byStdin, 'aider'].map(async (name) => [name, await host.isRemote(name)]),
    )
    expect(remote.filter(([, is]) => is).map(([name]) => name)).toEqual([
      'amp',
      'claude',
      'codex',
      'copilot',
      'cursor',
      'gemini',
    ])
  })

  test.each([...byStdin, 'aider'])('%s writes folders of its own alone', async (name) => {
    const { writes } = await host.harness(name)
    expect(writes.length).toBeGreaterThan(0)
    for (const folder of writes)
      expect(folder).toMatch(/^~\/\.(?:[a-z]+$|(?:cache|config|local\/share|local\/state)\/[a-z]+$)/)
  })
})

describe('a sandbox of the CLI', () => {
  const own: [name: string, outside: string[], inside: string[]][] = [
    ['codex', ['--sandbox', 'workspace-write'], ['--dangerously-bypass-approvals-and-sandbox']],
    ['cursor', [], ['--sandbox', 'disabled']],
    ['copilot', [], ['--allow-all-paths']],
  ]
  test.each(own)('%s keeps it, unless it is in that of automaton', async (name, outside, inside) => {
    const free = (await command(name)).argv
    const contained = (await command(name, { contained: true })).argv
    expect(free.filter((word) => !contained.includes(word))).toEqual(
      outside.filter((word) => !inside.includes(word)),
    )
    expect(contained.filter((word) => !free.includes(word))).toEqual(
      inside.filter((word) => !outside.includes(word)),
    )
    expect(free).toEqual(expect.arrayContaining(outside))
    expect(contained).toEqual(expect.arrayContaining(inside))
  })
})

const claudeResult = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  session_id: 's1',
  result: 'Done.',
}

describe('claude', () => {
  const settings = async (cwd = '/work') => {
    const { argv } = await command('claude', { cwd })
    return argv.includes('--settings') ? JSON.parse(argv[argv.indexOf('--settings') + 1] ?? '') : null
  }

  test('is told to ask automaton before each edit, as the settings that `hook claude` prints do', async () => {
    const { hooks } = await settings()
    const [own] = hooks.PreToolUse
    const printed = await automaton(['hook', 'claude'], { cwd: '/' })
    const [theirs] = JSON.parse(printed.stdout).hooks.PreToolUse
    expect(own.matcher).toBe(theirs.matcher)
    expect(own.hooks).toEqual([
      { ...theirs.hooks[0], command: expect.stringContaining(' hook-check claude ') },
    ])
    expect(await settings('C:\\work')).toBeNull()
  })

  test.each<[what: string, env: Record<string, string>, code: number]>([
    ['that says yes', { AUTOMATON_BIN: '/bin/true' }, 0],
    ['that says no', { AUTOMATON_BIN: '/bin/false' }, 2],
    ['that is missing', { AUTOMATON_BIN: '/nowhere/automaton' }, 2],
    ['that nobody names', {}, 2],
  ])('an automaton %s decides as it should', async (_, env, code) => {
    const { hooks } = await settings()
    const line = hooks.PreToolUse[0].hooks[0].command
    expect(Bun.spawnSync(['sh', '-c', line], { env, stderr: 'ignore' }).exitCode).toBe(code)
  })

  test('the sum by model is what the process cost; of two closing events the last one counts', async () => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const models = (outputTokens: number) => ({
      big: { inputTokens: 100, outputTokens, cacheReadInputTokens: 7, cacheCreationInputTokens: 3 },
      small: { inputTokens: 10, outputTokens: 1, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 },
    })
    const report = await read('claude', [
      { ...claudeResult, total_cost_usd: 0.1, usage, modelUsage: models(20) },
      { type: 'assistant', message: { content: [{ type: 'text', text: 'More.' }] } },
      { ...claudeResult, result: 'More.', total_cost_usd: 0.25, usage, modelUsage: models(30) },
    ])
    expect(report).toMatchObject({
      finalMessage: 'More.',
      usage: { usd: 0.25, tokens: 151, input: 113, output: 31, cached: 7 },
    })
  })

  test('a limit of a plan tells until when', async () => {
    const { error } = await read('claude', [
      {
        type: 'rate_limit_event',
        rate_limit_info: { status: 'rejected', resetsAt: 1795976400, rateLimitType: 'five_hour' },
      },
      {
        type: 'assistant',
        error: 'rate_limit',
        message: { content: [{ type: 'text', text: "You've hit your limit" }] },
      },
      { ...claudeResult, is_error: true, api_error_status: 429, result: "You've hit your limit" },
    ])
    expect(error).toEqual({
      kind: 'rate_limit',
      message: "You've hit your limit",
      retryAt: '2026-11-29T18:20:00.000Z',
    })
  })

  test('a warning about a limit is no error', async () => {
    const info = { status: 'allowed_warning', resetsAt: 1795976400 }
    const report = await read('claude', [{ type: 'rate_limit_event', rate_limit_info: info }, claudeResult])
    expect(report).toMatchObject({ finished: true, error: null })
  })

  test('what it was trying to get over when it was killed is told', async () => {
    const retry = { type: 'system', subtype: 'api_retry', attempt: 3, error_status: 429, error: 'rate_limit' }
    const { error } = await read('claude', [retry], { exitCode: null })
    expect(error).toEqual({ kind: 'rate_limit', message: 'claude tries again: rate_limit (429)' })
    const answer = { type: 'assistant', message: { content: [{ type: 'text', text: 'On.' }] } }
    expect((await read('claude', [retry, answer], { exitCode: null })).error).toBeNull()
  })

  test('an interrupted run exits with 0 and is an error all the same', async () => {
    const result = { ...claudeResult, subtype: 'error_during_execution', is_error: true, result: undefined }
    expect(await read('claude', [result])).toMatchObject({ finished: false, error: { kind: 'other' } })
    const limited = { ...claudeResult, subtype: 'error_max_turns' }
    expect(await read('claude', [limited])).toMatchObject({ finished: false, finalMessage: null })
  })

  test('cuts a final message that nobody could read, and keeps its end', async () => {
    const { finalMessage } = await read('claude', [
      { ...claudeResult, result: `${'x'.repeat(3_000_000)}{"pass":true}` },
    ])
    expect(finalMessage?.length).toBe(1 << 20)
    expect(finalMessage).toEndWith('{"pass":true}')
  })
})

describe('codex', () => {
  const said = (text: string) => ({ type: 'item.completed', item: { type: 'agent_message', text } })
  const done = (input: number) => ({
    type: 'turn.completed',
    usage: { input_tokens: input, cached_input_tokens: 40, output_tokens: 10 },
  })

  test('the tokens of a turn are the sum up to it, and hold the cached ones', async () => {
    const { usage } = await read('codex', [
      said('One.'),
      done(100),
      { type: 'turn.started' },
      said('Two.'),
      done(250),
    ])
    expect(usage).toEqual({ usd: null, tokens: 260, input: 210, output: 10, cached: 40 })
  })

  test('a late end of a command leaves the last words alone, and a plan is no tool', async () => {
    const item = (type: string, of: string) => ({
      type,
      item: { type: of, aggregated_output: '{"pass":false}' },
    })
    const { finalMessage } = await read('codex', [
      said('I run it.'),
      item('item.started', 'command_execution'),
      said('Done.'),
      item('item.started', 'todo_list'),
      item('item.completed', 'command_execution'),
      done(1),
    ])
    expect(finalMessage).toBe('Done.')
  })

  test('a run that ends with a tool has no last words', async () => {
    const run = [said('I run it.'), { type: 'item.started', item: { type: 'file_change' } }, done(1)]
    expect(await read('codex', run)).toMatchObject({ finalMessage: null, finished: true })
  })

  test('a connection that came back is no error', async () => {
    const trouble = { type: 'error', message: 'Reconnecting... 1/5 (503)' }
    expect(await read('codex', [trouble, said('Done.'), done(1)])).toMatchObject({
      finished: true,
      error: null,
    })
  })
})

describe('copilot', () => {
  test('its tokens come from its own report alone', async () => {
    const run = [
      { type: 'assistant.message', data: { content: 'Done.' } },
      { type: 'result', sessionId: 's', exitCode: 0 },
    ]
    const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 5 }
    const report = JSON.stringify({ modelMetrics: { a: { usage }, b: { usage } } })
    expect((await read('copilot', run, { report })).usage).toEqual({
      usd: null,
      tokens: 240,
      input: 140,
      output: 40,
      cached: 60,
    })
    for (const report of ['', '{}', 'null', '{"modelMetrics":{"a":5}}'])
      expect((await read('copilot', run, { report })).usage).toEqual({ usd: null, tokens: null })
  })

  test('leaves its report among the papers of the session', async () => {
    const { argv, report } = await command('copilot')
    expect(argv[argv.indexOf('--usage-output-file') + 1]).toBe(`/loop/worktree/.automaton-run/${report}`)
    const windows = await command('copilot', { output: 'C:\\loop\\.automaton-run\\implement.md' })
    expect(windows.argv).toContain(`C:\\loop\\.automaton-run\\${report}`)
  })
})

describe('what is odd in the output', () => {
  const runs: [name: string, run: unknown[]][] = [
    ['claude', [claudeResult]],
    [
      'codex',
      [
        { type: 'item.completed', item: { type: 'agent_message', text: 'Done.' } },
        { type: 'turn.completed' },
      ],
    ],
    [
      'gemini',
      [
        { type: 'message', role: 'assistant', content: 'Done.' },
        { type: 'result', status: 'success' },
      ],
    ],
    [
      'copilot',
      [
        { type: 'assistant.message', data: { content: 'Done.' } },
        { type: 'result', exitCode: 0 },
      ],
    ],
    [
      'goose',
      [
        { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] } },
        { type: 'complete' },
      ],
    ],
  ]
  test.each(runs)('does %s no harm', async (name, run) => {
    const escaped = run.map((event) => `\u001b]0;title\u0007\u001b[2K${JSON.stringify(event)}`)
    const endless = `{"type":"result","result":"${'x'.repeat(1 << 20)}`
    const opened = '{"'.repeat(500_000)
    const started = performance.now()
    const report = await read(name, [
      'warming up',
      endless,
      opened,
      '{"type":[]}',
      '[1]',
      '{"type":"result"',
      ...escaped,
    ])
    expect(report).toMatchObject({ finalMessage: 'Done.', finished: true, error: null })
    expect(performance.now() - started).toBeLessThan(1000)
  })

  test('numbers that are none count as nothing', async () => {
    const usage = { input_tokens: -5, output_tokens: 'many', cache_read_input_tokens: null }
    const report = await read('qwen', [{ ...claudeResult, usage, total_cost_usd: -1 }])
    expect(report.usage).toEqual({ usd: null, tokens: 0, input: 0, output: 0, cached: 0 })
  })

  test('endless words keep their end, and no more', async () => {
    const piece = { type: 'message', role: 'assistant', content: 'x'.repeat(300_000) }
    const last = { type: 'message', role: 'assistant', content: 'the end' }
    const { finalMessage } = await read('gemini', [
      ...Array.from({ length: 12 }, () => piece),
      last,
      { type: 'result', status: 'success' },
    ])
    expect(finalMessage?.length).toBe(1 << 20)
    expect(finalMessage).toEndWith('xthe end')
  })
})
