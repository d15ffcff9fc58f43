import { describe, expect, test } from 'bun:test'
import { sessionRequest } from '../../contract/harness.ts'
import { host, read } from './read.ts'

// No package of npm brings these: their output is written down from their documentation and sources.

describe('cursor', () => {
  const said = (text: string) => ({
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    session_id: 'c1',
  })
  const tool = (subtype: string) => ({
    type: 'tool_call',
    subtype,
    call_id: 't1',
    tool_call: { writeToolCall: { args: { path: 'a.txt', fileText: '{"pass": false}' } } },
    session_id: 'c1',
  })
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    duration_ms: 1234,
    result: 'I write it.Done.',
    session_id: 'c1',
    request_id: 'r1',
  }

  test('its closing event repeats everything, so the words after the last tool count', async () => {
    const report = await read('cursor', [
      { type: 'system', subtype: 'init', session_id: 'c1', model: 'Auto', permissionMode: 'default' },
      said('I write it.'),
      tool('started'),
      tool('completed'),
      said('Done.'),
      result,
    ])
    expect(report).toEqual({
      finalMessage: 'Done.',
      sessionId: 'c1',
      usage: { usd: null, tokens: null },
      finished: true,
      error: null,
    })
  })

  test('tokens are read where it names them', async () => {
    const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 7, cacheWriteTokens: 3 }
    const report = await read('cursor', [said('Done.'), { ...result, usage }])
    expect(report.usage).toEqual({ usd: null, tokens: 130, input: 103, output: 20, cached: 7 })
  })

  test('a failure comes on standard error alone', async () => {
    const stderr = 'Error: Authentication required. Please run agent login first, or set CURSOR_API_KEY.\n'
    expect((await read('cursor', [], { exitCode: 1, stderr })).error).toMatchObject({ kind: 'login' })
  })
})

describe('amp', () => {
  const answer = (content: object[], usage: object) => ({
    type: 'assistant',
    message: { type: 'message', role: 'assistant', content, usage },
    parent_tool_use_id: null,
    session_id: 'T-1',
  })
  const steps = [
    { type: 'system', subtype: 'init', cwd: '/project', session_id: 'T-1', tools: ['Bash'], mcp_servers: [] },
    answer([{ type: 'tool_use', id: 'x', name: 'Bash', input: { cmd: 'ls' } }], {
      input_tokens: 10,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 100,
      output_tokens: 7,
    }),
    {
      type: 'user',
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'x', content: '{"pass":false}' }],
      },
      session_id: 'T-1',
    },
    answer([{ type: 'text', text: 'Done.' }], { input_tokens: 20, output_tokens: 3 }),
  ]

  test('each answer names its tokens', async () => {
    const result = { type: 'result', subtype: 'success', is_error: false, result: 'Done.', session_id: 'T-1' }
    expect(await read('amp', [...steps, { ...result, num_turns: 2, duration_ms: 9 }])).toEqual({
      finalMessage: 'Done.',
      sessionId: 'T-1',
      usage: { usd: null, tokens: 145, input: 35, output: 10, cached: 100 },
      finished: true,
      error: null,
    })
  })

  test('an empty account is told by the closing event', async () => {
    const result = { type: 'result', subtype: 'error_during_execution', is_error: true, session_id: 'T-1' }
    const report = await read('amp', [...steps, { ...result, error: 'Out of credits. Add more to go on.' }], {
      exitCode: 1,
    })
    expect(report).toMatchObject({ finished: false, finalMessage: null, error: { kind: 'credit' } })
  })
})

describe('goose', () => {
  const message = (role: string, ...content: object[]) => ({
    type: 'message',
    message: { id: 'm1', role, created: 1, content, metadata: { userVisible: true, agentVisible: true } },
  })
  const text = (words: string) => ({ type: 'text', text: words })

  test('words come in pieces, and one number of tokens at the end', async () => {
    const report = await read('goose', [
      message('assistant', text('I look.'), {
        type: 'toolRequest',
        id: 't1',
        toolCall: { status: 'success' },
      }),
      message('user', { type: 'toolResponse', id: 't1', toolResult: { value: [text('{"pass":false}')] } }),
      message('assistant', text('Do')),
      { type: 'notification', extension_id: 'developer', log: { message: 'x' } },
      message('assistant', text('ne.')),
      { type: 'complete', total_tokens: 1234 },
    ])
    expect(report).toEqual({
      finalMessage: 'Done.',
      sessionId: null,
      usage: { usd: null, tokens: 1234 },
      finished: true,
      error: null,
    })
  })

  test('a provider that refuses is a failure although the run ends well', async () => {
    const words =
      'Ran into this error: Authentication failed. Status: 401 Unauthorized.\n\nPlease retry if you think this is a transient or recoverable error.'
    const report = await read('goose', [
      message('assistant', text(words)),
      { type: 'complete', total_tokens: null },
    ])
    expect(report).toMatchObject({
      finished: false,
      finalMessage: null,
      error: { kind: 'login', message: 'Authentication failed. Status: 401 Unauthorized' },
    })
  })

  test('an error event is a failure', async () => {
    const report = await read('goose', [{ type: 'error', error: 'Rate limit exceeded, try again in 2m' }])
    expect(report.error).toEqual({
      kind: 'rate_limit',
      message: 'Rate limit exceeded, try again in 2m',
      retryAt: '2026-11-29T17:42:00.000Z',
    })
  })
})

describe('aider', () => {
  const banner = [
    'Aider v0.86.1',
    'Main model: m with diff edit format',
    'Git repo: .git with 3 files',
    'Repo-map: disabled',
    '',
  ]

  test('its answer stands between the banner and the line of tokens', async () => {
    const report = await read('aider', [
      ...banner,
      'src/a.ts',
      '<<<<<<< SEARCH',
      '=======',
      'x',
      '>>>>>>> REPLACE',
      '',
      'Tokens: 2.3k sent, 45 received. Cost: $0.01 message, $0.01 session.',
      'Applied edit to src/a.ts',
      '\u001b[32mDone.\u001b[0m',
      'All of it.',
      '',
      'Tokens: 12k sent, 1.2k cache hit, 1,005 received. Cost: $0.0042 message, $0.0142 session.',
    ])
    expect(report).toEqual({
      finalMessage: 'Done.\nAll of it.',
      sessionId: null,
      usage: { usd: 0.0142, tokens: 2345 + 13_005 },
      finished: true,
      error: null,
    })
  })

  test('an unknown price is no price', async () => {
    const report = await read('aider', [...banner, 'Done.', 'Tokens: 900 sent, 45 received.'])
    expect(report.usage).toEqual({ usd: null, tokens: 945 })
  })

  test('a refused key is a failure although it exits with 0', async () => {
    const report = await read('aider', [
      ...banner,
      'litellm.AuthenticationError: AnthropicException - invalid x-api-key',
      'The API provider is not able to authenticate you. Check your API key.',
    ])
    expect(report).toMatchObject({ finished: false, finalMessage: null, error: { kind: 'login' } })
  })

  test('a failure that it got over is none', async () => {
    const report = await read('aider', [
      ...banner,
      'litellm.RateLimitError: slow down',
      'The API provider has rate limited you. Try again later or check your quotas.',
      'Retrying in 0.2 seconds...',
      'Done.',
      'Tokens: 900 sent, 45 received.',
    ])
    expect(report).toMatchObject({ finished: true, error: null })
  })

  test('gets its prompt by its file, and writes nothing beside the work', async () => {
    const { argv, stdin } = await (await host.harness('aider')).command(sessionRequest())
    const { promptFile } = sessionRequest()
    expect(argv[argv.indexOf('--message-file') + 1]).toBe(promptFile)
    expect(argv[argv.indexOf('--chat-history-file') + 1]).toBe('/loop/worktree/.automaton-run/aider-chat.md')
    expect(argv).toContain('--no-auto-commits')
    expect(stdin).toBeUndefined()
  })
})
