import { describe, expect, test } from 'bun:test'
import command from '../../plugins/verifiers/command.ts'
import session from '../../plugins/verifiers/session.ts'
import type { RunResult } from '../../src/api/index.ts'
import { createHost } from '../../src/plugin/host.ts'
import { sessionResult, verifyContext } from '../contract/verifier.ts'

const host = createHost({ builtins: [command, session], log() {} })

describe('session', () => {
  const read: string[] = []
  const grade = (change: Parameters<typeof sessionResult>[0]) =>
    host.verify(
      'session',
      {},
      verifyContext({
        session: async () => sessionResult(change),
        readVerdict: (text) => {
          read.push(text)
          return { verdict: { pass: true, score: 1, reasons: [], next_hint: '' }, warnings: [] }
        },
      }),
    )

  test('reads what the session wrote, else its final message', async () => {
    read.length = 0
    await grade({ output: 'written', finalMessage: 'said' })
    await grade({ output: null, finalMessage: 'said' })
    await grade({ output: ' \n', finalMessage: 'said' })
    expect(read).toEqual(['written', 'said', 'said'])
  })

  test('a session that left nothing gave no verdict', async () => {
    const nothing = { unreadable: 'the verify session left no verdict', raw: '' }
    expect(await grade({ output: null, finalMessage: null })).toEqual(nothing)
    expect(await grade({ output: '', finalMessage: '\n' })).toEqual(nothing)
  })

  test('asks for the verify role and is not free', async () => {
    const asked: string[] = []
    await host.verify(
      'session',
      {},
      verifyContext({
        session: async (role) => {
          asked.push(role)
          return sessionResult()
        },
      }),
    )
    expect(asked).toEqual(['verify'])
    expect(host.isFree('session')).toBe(false)
  })
})

describe('command', () => {
  const grade = (options: unknown, results: Partial<RunResult>[]) => {
    const ran: unknown[] = []
    const run = async (argv: readonly string[], limits?: { timeoutSeconds?: number }) => {
      ran.push([...argv, limits?.timeoutSeconds])
      return {
        exitCode: 0,
        output: '',
        stdout: '',
        seconds: 1.25,
        timedOut: false,
        ...results[ran.length - 1],
      }
    }
    return host.verify('command', options, verifyContext({ run })).then((result) => ({ result, ran }))
  }

  test('runs one program or several, each with the time limit', async () => {
    expect((await grade({ commands: ['npm', 'test'] }, [])).ran).toEqual([['npm', 'test', 600]])
    const { ran, result } = await grade({ commands: [['a'], ['b', '-c']], timeout: 5 }, [])
    expect(ran).toEqual([
      ['a', 5],
      ['b', '-c', 5],
    ])
    expect(result).toEqual({
      verdict: {
        pass: true,
        score: 1,
        reasons: ['`a` passed in 1.3 s', '`b -c` passed in 1.3 s'],
        next_hint: '',
      },
      warnings: [],
    })
  })

  test('the first that fails ends it, and its last words are the reason and the hint', async () => {
    const output = `${'x'.repeat(5000)}\nexpected 3, got 4\n`
    const { ran, result } = await grade({ commands: [['a'], ['b'], ['c']] }, [{}, { exitCode: 2, output }])
    expect(ran).toHaveLength(2)
    if (!('verdict' in result)) throw new Error('no verdict')
    const { verdict } = result
    expect(verdict).toMatchObject({
      pass: false,
      score: 0,
      reasons: ['`b` exited with 2 after 1.3 s', expect.stringMatching(/^…x+\nexpected 3, got 4$/)],
    })
    expect(verdict.next_hint).toContain('expected 3, got 4')
    expect(verdict.next_hint.length).toBeLessThanOrEqual(4000)
  })

  test('a program that ran out of time, or was killed, fails', async () => {
    const late = await grade({ commands: ['a'], timeout: 9 }, [{ exitCode: null, timedOut: true }])
    expect(late.result).toMatchObject({ verdict: { pass: false, reasons: ['`a` took longer than 9 s'] } })
    const killed = await grade({ commands: ['a'] }, [{ exitCode: null }])
    expect(killed.result).toMatchObject({ verdict: { pass: false, reasons: ['`a` was killed after 1.3 s'] } })
  })

  test('is free, so that its failure saves a session', async () => {
    await grade({ commands: ['a'] }, [])
    expect(host.isFree('command')).toBe(true)
  })

  test('options that name no program are refused with their place', async () => {
    for (const options of [
      {},
      { commands: [] },
      { commands: 'npm test' },
      { commands: [[]] },
      { commands: ['a'], timeout: 0 },
    ]) {
      await expect(host.verifier('command', options)).rejects.toThrow(
        'plugin "command" failed in options: options.',
      )
    }
  })
})
