import { describe, expect, test } from 'bun:test'
import type { Plugin, SessionRequest } from '../../src/api/index.ts'
import { createHost } from '../../src/plugin/host.ts'

/** What a harness is asked unless a test says otherwise. */
export function sessionRequest(change: Partial<SessionRequest> = {}): SessionRequest {
  return {
    role: 'implement',
    model: null,
    prompt: 'Do the thing.',
    promptFile: '/loop/outputs/tick1-implement-prompt.md',
    cwd: '/loop/worktree',
    output: '/loop/worktree/.automaton-run/implement.md',
    tokens: { current_task: 'fix-login' },
    ...change,
  }
}

/** A harness under test, and what its agent writes when a run goes well. */
export interface HarnessCase {
  plugin: Plugin
  options?: unknown
  /** Standard output of a good run, whose final message is `Done.` */
  goodRun: string
}

/** What every harness must do, whatever it drives. */
export function harnessContract({ plugin, options = {}, goodRun }: HarnessCase): void {
  describe(`the harness ${plugin.name}`, () => {
    const harness = createHost({ builtins: [plugin], log() {} }).harness(plugin.name, options)
    const read = (stdout: string, exitCode: number | null) => {
      const reader = harness.reader()
      for (const line of stdout.split('\n')) reader.line(line)
      return reader.end({ exitCode, stdout, stderr: '' })
    }

    test('starts a program that it says it needs', () => {
      expect(harness.programs).toContain(harness.command(sessionRequest()).argv[0] ?? '')
    })

    test('hands over the prompt unchanged, whatever is in it', () => {
      const prompt = 'a "b" $(c) `d` \\ % ! {diff} \n-- \u{1d11e}'
      const { argv, stdin } = harness.command(sessionRequest({ prompt }))
      const { promptFile } = sessionRequest()
      expect([stdin, ...argv].some((text) => text === prompt || text?.includes(promptFile))).toBe(true)
    })

    test('hands over a prompt of 5 MB without an argument that the system refuses', () => {
      const { argv, stdin } = harness.command(sessionRequest({ prompt: 'x'.repeat(5_000_000) }))
      for (const argument of argv) expect(Buffer.byteLength(argument)).toBeLessThan(131_072)
      const handed =
        stdin?.length === 5_000_000 || argv.some((text) => text.includes(sessionRequest().promptFile))
      expect(handed).toBe(true)
    })

    test('a model id is handed over as it is', () => {
      const { argv } = harness.command(sessionRequest({ model: 'some/odd:model $x' }))
      expect(argv).toContain('some/odd:model $x')
    })

    test('a good run is finished and has its final message', () => {
      expect(read(goodRun, 0)).toMatchObject({
        finalMessage: expect.stringMatching(/^Done\.\n?$/),
        finished: true,
        error: null,
      })
    })

    test('a run that says nothing and fails is not finished', () => {
      expect(read('', 1)).toMatchObject({ finalMessage: null, finished: false })
      expect(read('', null)).toMatchObject({ finished: false })
    })

    test('survives any line', () => {
      for (const line of [
        '',
        '{',
        '{"type":5}',
        '{"type":"error"}',
        'null',
        '{"type":"text","part":null}',
        '\u001b[31m',
        '\0',
      ]) {
        expect(() => read(`${line}\n${goodRun}`, 1)).not.toThrow()
      }
    })

    test('two readers know nothing of each other', () => {
      read(goodRun, 0)
      expect(read('', 1).finalMessage).toBeNull()
    })
  })
}
