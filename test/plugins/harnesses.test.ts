import { describe, expect, test } from 'bun:test'
import command from '../../plugins/harnesses/command.ts'
import opencode from '../../plugins/harnesses/opencode.ts'
import { createHost } from '../../src/plugin/host.ts'
import { sessionEnd, sessionRequest } from '../contract/harness.ts'

const host = createHost({ builtins: [command, opencode], log() {} })
const run = (argv: string[]) => host.harness('command', { command: argv })

describe('harness.command', () => {
  test('fills known tokens once, in each argument by itself, and leaves other braces alone', async () => {
    const harness = await run([
      'agent',
      '--in={cwd}',
      '{current_task}/{current_phase}',
      '{"a":1} {b}',
      '{prompt}',
      '{diff}',
    ])
    const tokens = { current_task: '{output}', current_phase: 'implement' }
    expect((await harness.command(sessionRequest({ tokens }))).argv).toEqual([
      'agent',
      '--in=/loop/worktree',
      '{output}/implement',
      '{"a":1} {b}',
      '/loop/outputs/tick1-implement-prompt.md',
      '',
    ])
  })

  test('{model} stays as it is where no model is set, and that is said', async () => {
    const harness = await run(['agent', '--model', '{model}'])
    expect(await harness.command(sessionRequest())).toEqual({
      argv: ['agent', '--model', '{model}'],
      notes: ['{model} stays as it is: no model is set'],
    })
    expect(await harness.command(sessionRequest({ model: 'a/b' }))).toEqual({
      argv: ['agent', '--model', 'a/b'],
      notes: [],
    })
  })

  test('a prompt that is too long for an argument is read from its file', async () => {
    const harness = await run(['agent', 'Hello. {prompt_content}'])
    const long = await harness.command(sessionRequest({ prompt: '€'.repeat(40_001) }))
    expect(long.argv[1]).toBe(
      'Hello. Read and follow the instructions in /loop/outputs/tick1-implement-prompt.md',
    )
    expect(long.notes).toEqual([
      'the prompt is too long for an argument: the agent is told to read it from its file',
    ])
    expect((await harness.command(sessionRequest({ prompt: 'x'.repeat(119_000) }))).argv[1]).toHaveLength(
      119_007,
    )
  })

  test('on Windows an argument is too long sooner', async () => {
    const request = { prompt: 'x'.repeat(30_001), promptFile: 'C:\\loop\\prompt.md' }
    expect((await (await run(['agent', '{prompt_content}'])).command(sessionRequest(request))).argv[1]).toBe(
      'Read and follow the instructions in C:\\loop\\prompt.md',
    )
  })

  test('another token that is too long is an error instead of a program that cannot start', async () => {
    const harness = await run(['agent', '{diff}'])
    await expect(harness.command(sessionRequest({ tokens: { diff: 'x'.repeat(200_000) } }))).rejects.toThrow(
      'plugin "command" failed in command: argument 1 is too long',
    )
  })

  test('standard output is the final message, and exit 0 is a good end', async () => {
    const end = async (exitCode: number | null, stdout: string) =>
      (await run(['a'])).reader().end(sessionEnd({ exitCode, stdout }))
    expect(await end(0, 'hi\n')).toMatchObject({ finalMessage: 'hi\n', finished: true })
    expect(await end(3, 'hi')).toMatchObject({ finished: false })
    expect(await end(0, ' \n')).toMatchObject({ finalMessage: null, finished: true })
  })

  test('an empty command is refused', async () => {
    await expect(run([])).rejects.toThrow('plugin "command" failed in options: options.command')
    await expect(run([''])).rejects.toThrow('a program is expected first')
  })
})

describe('opencode', () => {
  const opened = host.harness('opencode')
  const read = async (lines: unknown[], end: { exitCode?: number; stderr?: string } = {}) => {
    const reader = (await opened).reader()
    for (const line of lines) reader.line(typeof line === 'string' ? line : JSON.stringify(line))
    return reader.end(sessionEnd(end))
  }
  const text = (words: string, id?: string) => ({
    type: 'text',
    sessionID: 'ses_1',
    part: { id, text: words },
  })
  const step = (reason: string, tokens: unknown = { total: 100 }, cost = 0.25) => ({
    type: 'step_finish',
    sessionID: 'ses_1',
    part: { reason, tokens, cost },
  })
  const tool = { type: 'tool_use', sessionID: 'ses_1', part: { tool: 'write' } }

  test('gets its prompt by standard input and never updates itself', async () => {
    const harness = await opened
    expect(await harness.command(sessionRequest({ model: 'anthropic/x' }))).toEqual({
      argv: ['opencode', 'run', '--format', 'json', '--model', 'anthropic/x'],
      stdin: 'Do the thing.',
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
    })
    expect((await harness.command(sessionRequest())).argv).not.toContain('--model')
  })

  test('may run a local model, so that memory matters', async () => {
    expect(await host.isRemote('opencode')).toBe(false)
  })

  test('sees keys of models, and none that opens a repository or an account', async () => {
    const harness = await opened
    expect(harness.env).toEqual(
      expect.arrayContaining(['OPENCODE_CONFIG_CONTENT', 'ANTHROPIC_API_KEY', 'OPENROUTER_API_KEY']),
    )
    for (const name of ['GITHUB_TOKEN', 'AWS_SECRET_ACCESS_KEY']) expect(harness.env).not.toContain(name)
  })

  test('the words after the last tool are the final message; tokens and money are summed', async () => {
    const report = await read([
      text('I will write it.'),
      tool,
      step('tool-calls', { input: 900, output: 50, reasoning: 20, cache: { read: 25, write: 5 } }),
      text('Done.', 'p1'),
      text('All of it.', 'p2'),
      step('stop'),
    ])
    expect(report).toEqual({
      finalMessage: 'Done.\nAll of it.',
      sessionId: 'ses_1',
      usage: { usd: 0.5, tokens: 1100, input: 905, output: 70, cached: 25 },
      finished: true,
      error: null,
    })
  })

  test('a part that comes again, longer, counts once', async () => {
    expect((await read([text('Do', 'p1'), text('Done.', 'p1'), step('stop')])).finalMessage).toBe('Done.')
  })

  test('terminal escapes and notices before the object are skipped', async () => {
    const line = `\u001b[0m> build\u001b[0m ${JSON.stringify(text('Done.'))}`
    expect(await read(['\u001b[31mhello {not json', line, step('stop')])).toMatchObject({
      finalMessage: 'Done.',
      finished: true,
    })
  })

  test('a run that stops after a tool is not finished', async () => {
    expect(await read([text('Let me.'), tool, step('tool-calls')])).toMatchObject({
      finalMessage: null,
      finished: false,
    })
    expect((await read([step('stop'), { type: 'step_start', part: {} }])).finished).toBe(false)
  })

  test('a run without usage says that nothing is known', async () => {
    expect((await read([text('Done.'), { type: 'step_finish', part: { reason: 'stop' } }])).usage).toEqual({
      usd: null,
      tokens: null,
    })
  })

  test('a rejected permission is an error although the run exits with 0', async () => {
    const stderr = '\u001b[33m! permission requested: external_directory (/etc/*); auto-rejecting\u001b[0m\n'
    const report = await read([tool, step('tool-calls')], { stderr })
    expect(report.finished).toBe(false)
    expect(report.error).toEqual({
      kind: 'config',
      message:
        'opencode rejected a permission: ! permission requested: external_directory (/etc/*); auto-rejecting',
    })
  })

  const failures: [name: string, data: unknown, kind: string][] = [
    ['APIError', { message: 'bad key', statusCode: 401 }, 'login'],
    ['ProviderAuthError', { message: 'no key' }, 'login'],
    ['APIError', { message: 'Your credit balance is too low', statusCode: 400 }, 'credit'],
    ['APIError', { message: 'You exceeded your current quota', statusCode: 429 }, 'credit'],
    ['APIError', { message: 'slow down', statusCode: 429 }, 'rate_limit'],
    ['APIError', { message: 'Overloaded', statusCode: 529 }, 'overloaded'],
    ['ProviderModelNotFoundError', {}, 'config'],
    ['UnknownError', { message: 'Unexpected server error' }, 'other'],
    ['APIError', { message: 'oops', statusCode: 500 }, 'other'],
  ]
  for (const [name, data, kind] of failures) {
    test(`${name} ${JSON.stringify(data)} is a failure of kind ${kind}`, async () => {
      const report = await read(
        [{ type: 'error', sessionID: 'ses_2', error: { name, data } }, step('stop')],
        {
          exitCode: 1,
        },
      )
      expect(report).toMatchObject({ finished: false, sessionId: 'ses_2', error: { kind } })
      expect(report.error?.message).toContain(name)
    })
  }

  test('an exit without any word is told by its last line of stderr', async () => {
    expect((await read([], { exitCode: 1, stderr: 'warn\nENOTDIR: no home\n' })).error).toEqual({
      kind: 'other',
      message: 'opencode exited with 1: ENOTDIR: no home',
    })
  })
})
