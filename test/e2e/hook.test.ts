import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { binary, callEnv } from '../helpers/cli.ts'
import { makeProject, must, type TestProject } from '../helpers/project.ts'

/** The command that the printed settings name, as the agent's shell would run it. */
async function commandOf(p: TestProject, agent: string): Promise<string> {
  const text = (await must(p.call(['hook', agent]))).stdout
  const settings = JSON.parse(text)
  const [entry] = settings.hooks[agent === 'gemini' ? 'BeforeTool' : 'PreToolUse']
  return entry.hooks[0].command
}

async function ask(p: TestProject, o: { command: string; event: unknown; inTick?: boolean; cwd?: string }) {
  const marks = { AUTOMATON_IN_TICK: p.loop, AUTOMATON_ROLE: 'implement' }
  const child = Bun.spawn(['sh', '-c', o.command], {
    cwd: o.cwd ?? p.root,
    env: callEnv({ cwd: p.root, home: p.home, env: o.inTick ? marks : {} }),
    stdin: new Blob([typeof o.event === 'string' ? o.event : JSON.stringify(o.event)]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

const claudeEvent = (tool: string, input: object, cwd: string) => ({
  session_id: 's',
  transcript_path: '/home/pat/.claude/projects/x/s.jsonl',
  cwd,
  permission_mode: 'acceptEdits',
  hook_event_name: 'PreToolUse',
  tool_name: tool,
  tool_input: input,
  tool_use_id: 'toolu_1',
})
const write = (path: string, cwd: string) => claudeEvent('Write', { file_path: path, content: 'x\n' }, cwd)

describe('the hook of claude', () => {
  test('its settings ask before each tool that edits files', async () => {
    using p = await makeProject()
    const settings = JSON.parse((await must(p.call(['hook', 'claude']))).stdout)
    const [{ matcher, hooks }] = settings.hooks.PreToolUse
    for (const tool of ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'])
      expect(tool).toMatch(new RegExp(`^(?:${matcher})$`))
    expect(hooks).toEqual([
      { type: 'command', command: `'${binary}' hook-check claude || exit 2`, timeout: 60 },
    ])
    expect((await must(p.call(['hook', 'claude', '--json']))).json()).toMatchObject({
      schema: 1,
      agent: 'claude',
      file: '.claude/settings.local.json',
      settings,
    })
  })

  test('lets an edit in scope pass without a word, and refuses one out of scope with the reason', async () => {
    using p = await makeProject({ loop: { blast_radius: { file_scope: ['src'] } } })
    await must(p.tick())
    const command = await commandOf(p, 'claude')
    const on = (path: string) =>
      ask(p, { command, event: write(path, p.worktree), inTick: true, cwd: p.worktree })
    expect(await on(join(p.worktree, 'src/new.ts'))).toEqual({ code: 0, stdout: '', stderr: '' })
    const refused = await on(join(p.worktree, 'README.md'))
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('automaton refused this edit')
    expect(refused.stderr).toContain("README.md is outside the loop's file_scope")
    for (const path of ['/etc/passwd', join(p.root, 'src/work.txt'), join(p.worktree, '.git'), p.loopDir]) {
      expect((await on(path)).code).toBe(2)
    }
    mkdirSync(join(p.worktree, 'src/in'))
    symlinkSync('/etc', join(p.worktree, 'src/in/out'))
    expect((await on(join(p.worktree, 'src/in/out/passwd'))).code).toBe(2)
  })

  test('every tool has its own name for the file, and a path is taken from where the agent is', async () => {
    using p = await makeProject()
    const command = await commandOf(p, 'claude')
    const edit = (tool: string, input: object) => ask(p, { command, event: claudeEvent(tool, input, p.root) })
    expect((await edit('Edit', { file_path: 'src/work.txt', old_string: 'a', new_string: 'b' })).code).toBe(0)
    expect((await edit('MultiEdit', { file_path: 'AGENTS.md', edits: [] })).code).toBe(2)
    expect((await edit('NotebookEdit', { notebook_path: '.env' })).code).toBe(2)
    expect((await edit('NotebookEdit', { file_path: 'src/x.ipynb' })).code).toBe(2)
    expect((await edit('Bash', { command: 'rm -rf x' })).code).toBe(0)
  })

  test('whatever goes wrong is a refusal: no event, a broken one, no project, a damaged configuration, no such agent', async () => {
    using p = await makeProject()
    await must(p.tick())
    const command = await commandOf(p, 'claude')
    const good = write(join(p.worktree, 'src/a.ts'), p.worktree)
    const broken: unknown[] = [
      '',
      'nonsense',
      '[]',
      '{}',
      { tool_name: 'Write' },
      { tool_name: 'Write', tool_input: {} },
    ]
    for (const event of broken) {
      const answer = await ask(p, { command, event })
      expect(answer).toMatchObject({ code: 2, stdout: '' })
      expect(answer.stderr).toContain('automaton refused this edit: ')
    }
    const nul = { tool_name: 'Write', tool_input: { file_path: 'src/a\0b' } }
    expect((await ask(p, { command, event: nul })).code).toBe(2)
    expect((await ask(p, { command, event: good, cwd: '/' })).code).toBe(2)
    expect(
      (await ask(p, { command: command.replace('hook-check claude', 'hook-check nobody'), event: good }))
        .code,
    ).toBe(2)
    expect((await ask(p, { command: command.replace('hook-check', 'hook-chekc'), event: good })).code).toBe(2)
    expect((await ask(p, { command, event: good, inTick: true })).code).toBe(0)
    p.configure({ brakes: { max_iteration: 1 } })
    expect((await ask(p, { command, event: good, inTick: true })).code).toBe(2)
  })

  test('a binary that is gone, or that is killed, is a refusal too', async () => {
    using p = await makeProject()
    const command = await commandOf(p, 'claude')
    const event = write(join(p.root, 'src/a.ts'), p.root)
    const gone = command.replace(binary, join(p.scenarioDir, 'no-automaton'))
    expect(existsSync(join(p.scenarioDir, 'no-automaton'))).toBe(false)
    expect((await ask(p, { command: gone, event })).code).toBe(2)
    const killed = command.replace(`'${binary}' hook-check claude`, `sh -c 'kill -9 $$'`)
    expect((await ask(p, { command: killed, event })).code).toBe(2)
  })
})

describe('the hook of gemini', () => {
  test('asks before its edits, in its own words', async () => {
    using p = await makeProject()
    const told = await must(p.call(['hook', 'gemini']))
    expect(told.stderr).toBe('put this into .gemini/settings.json, in your project\n')
    const settings = JSON.parse(told.stdout)
    expect(settings.hooks.BeforeTool[0]).toMatchObject({ matcher: 'write_file|replace' })
    const command = await commandOf(p, 'gemini')
    const event = (tool: string, path: string) => ({
      hook_event_name: 'BeforeTool',
      cwd: p.root,
      tool_name: tool,
      tool_input: { file_path: path },
    })
    expect((await ask(p, { command, event: event('write_file', join(p.root, 'src/a.ts')) })).code).toBe(0)
    expect((await ask(p, { command, event: event('replace', join(p.root, 'AGENTS.md')) })).code).toBe(2)
  })
})

test('an agent without such a hook is a usage error that names those with one', async () => {
  using p = await makeProject()
  const call = await p.call(['hook', 'aider'])
  expect(call.code).toBe(2)
  expect(call.stderr).toContain('automaton knows those of claude, gemini')
})
