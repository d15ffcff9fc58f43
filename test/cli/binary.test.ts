import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratch, withLoop } from '../commands/fixture.ts'
import { automaton, binary, callEnv } from '../helpers/cli.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

/** Runs a shell line with the binary as $A; for what only a shell can do to file descriptors. */
function shell(line: string, cwd: string) {
  const env = { ...callEnv({ cwd }), A: binary }
  const run = Bun.spawnSync(['bash', '-c', line], { cwd, env, timeout: 20_000 })
  return { code: run.exitCode, stdout: run.stdout.toString(), stderr: run.stderr.toString() }
}

describe('the binary', () => {
  test('--version prints the version of config.md, in any folder', async () => {
    using dir = tempDir()
    const version = /^version: (\S+)/m.exec(readFileSync('config.md', 'utf8'))?.[1]
    const call = await automaton(['--version'], { cwd: dir.path })
    expect(call.stdout).toBe(`automaton ${version}\n`)
    expect((await automaton(['--json', '-v'], { cwd: dir.path })).stdout).toBe(call.stdout)
  })

  test('alone, with --help and with help it prints help, exit 0', async () => {
    using dir = tempDir()
    const alone = await automaton([], { cwd: dir.path })
    expect(alone.code).toBe(0)
    expect(alone.stdout).toContain('Usage: automaton <command>')
    expect((await automaton(['--help'], { cwd: dir.path })).stdout).toBe(alone.stdout)
    expect((await automaton(['help'], { cwd: dir.path })).stdout).toBe(alone.stdout)
    const one = await automaton(['help', 'approve'], { cwd: dir.path })
    expect(one.stdout).toContain('--halt ID')
    expect((await automaton(['approve', '--help'], { cwd: dir.path })).stdout).toBe(one.stdout)
  })

  test('an error is two lines on stderr, and with --json one object; stdout stays empty', async () => {
    using dir = tempDir()
    const text = await automaton(['statsu'], { cwd: dir.path })
    expect(text.code).toBe(2)
    expect(text.stdout).toBe('')
    expect(text.stderr).toBe(
      'automaton: unknown command (statsu): did you mean "status"?\n  fix: automaton status\n',
    )
    const json = await automaton(['statsu', '--json'], { cwd: dir.path })
    expect(json.code).toBe(2)
    expect(JSON.parse(json.stderr)).toMatchObject({ schema: 1, type: 'error', code: 'usage', exit: 2 })
  })

  test('runs nothing that lies in the folder: bunfig, .env, tsconfig, package.json', async () => {
    using s = await withLoop()
    const plant = `require('fs').writeFileSync(${JSON.stringify(join(s.root, 'PLANTED'))}, 'x')`
    writeFiles(s.root, {
      'bunfig.toml': 'preload = ["./evil.ts"]\n',
      '.env': `AUTOMATON_HOME=${s.root}/stolen\nNO_COLOR=\nAUTOMATON_IN_TICK=x\n`,
      'evil.ts': plant,
      'tsconfig.json': '{"compilerOptions":{"paths":{"cac":["./evil.ts"],"valibot":["./evil.ts"]}}}',
      'package.json': '{"imports":{"#x":"./evil.ts"},"main":"./evil.ts"}',
      'node_modules/valibot/index.js': plant,
      'node_modules/cac/index.js': plant,
    })
    expect((await s.run('status')).code).toBe(0)
    expect((await s.run('plugins')).code).toBe(0)
    expect((await s.run('check-gate', 'nightly')).json().loop).toBe('nightly')
    expect(existsSync(join(s.root, 'PLANTED'))).toBe(false)
    expect(existsSync(join(s.root, 'stolen'))).toBe(false)
  })

  test('a closed stdout, a closed pipe and no stdin end it quietly', () => {
    using s = scratch()
    expect(shell('"$A" --help >&-', s.root)).toMatchObject({ code: 0, stderr: '' })
    expect(shell('set -o pipefail; "$A" --help | head -1', s.root)).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(shell('"$A" loop-list <&- >&- 2>&-', s.root).code).toBe(0)
  })

  test.if(process.platform === 'linux')('an answer that a full disk swallowed is no success', () => {
    using s = scratch()
    expect(shell('"$A" loop-list >/dev/full', s.root)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('standard output'),
    })
  })

  test.if(process.platform === 'linux')('what can-edit exits with outlives its answer', () => {
    using s = scratch()
    for (const to of ['>&-', `2>&1 | true; exit \${PIPESTATUS[0]}`, '>/dev/full'])
      expect(shell(`"$A" can-edit .env ${to}`, s.root).code).toBe(3)
    expect(shell('"$A" can-edit a.ts >&-', s.root).code).toBe(0)
    // Nobody may take a lost answer for leave.
    expect(shell('"$A" can-edit a.ts >/dev/full', s.root).code).toBe(5)
  })

  test('state files do not end up on a closed stdout', async () => {
    using s = await withLoop()
    expect(shell('"$A" pause-loop nightly >&- 2>&-', s.root).code).toBe(0)
    expect(s.state('nightly').status).toBe('paused')
  })

  test('colours only where they are wanted', async () => {
    using s = await withLoop()
    const sequence = '\u001b['
    expect((await s.run('status')).stdout).not.toContain(sequence)
    expect((await s.call(['status'], { env: { FORCE_COLOR: '1' } })).stdout).toContain(sequence)
    const off = { FORCE_COLOR: '1', NO_COLOR: '1' }
    expect((await s.call(['status'], { env: off })).stdout).not.toContain(sequence)
    const flag = await s.call(['status', '--no-color'], { env: { FORCE_COLOR: '1' } })
    expect(flag.stdout).not.toContain(sequence)
  })

  test('outside of a project it says so and what to do', async () => {
    using dir = tempDir()
    const call = await automaton(['status'], { cwd: dir.path })
    expect(call.code).toBe(2)
    expect(call.stderr).toContain('not in a project')
  })
})
