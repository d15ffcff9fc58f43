import { describe, expect, test } from 'bun:test'
import type { Plugin, RunResult, SessionResult, VerifyContext } from '../../src/api/index.ts'
import { createHost } from '../../src/plugin/host.ts'

/** What a session left that graded well. */
export function sessionResult(change: Partial<SessionResult> = {}): SessionResult {
  return {
    output: null,
    finalMessage: '{"pass":true,"score":1,"reasons":[],"next_hint":""}',
    sessionId: null,
    usage: { usd: null, tokens: null },
    finished: true,
    error: null,
    ...change,
  }
}

/** What a verifier is given unless a test says otherwise. */
export function verifyContext(change: Partial<VerifyContext> = {}): VerifyContext {
  return {
    loop: 'nightly',
    project: '/project',
    log() {},
    signal: new AbortController().signal,
    task: 'fix-login',
    phase: 'implement',
    worktree: '/project/worktree',
    acceptanceCriteria: ['it works'],
    artifact: 'done',
    diff: '',
    session: async () => sessionResult(),
    readVerdict: (text) => ({ verdict: JSON.parse(text), warnings: [] }),
    run: async () => ({ exitCode: 0, output: '', timedOut: false }),
    ...change,
  }
}

/** What every verifier must do, whatever it grades. */
export function verifierContract(plugin: Plugin, options: unknown = {}): void {
  describe(`the verifier ${plugin.name}`, () => {
    const host = createHost({ builtins: [plugin], log() {} })
    const verify = (ctx: VerifyContext) => host.verify(plugin.name, options, ctx)

    test('passes what is good', async () => {
      expect(await verify(verifyContext())).toMatchObject({ verdict: { pass: true, score: 1 } })
    })

    test('does not pass what is bad', async () => {
      const bad: RunResult = { exitCode: 1, output: 'boom', timedOut: false }
      const finalMessage = '{"pass":false,"score":0.25,"reasons":["boom"],"next_hint":"fix boom"}'
      const result = await verify(
        verifyContext({ run: async () => bad, session: async () => sessionResult({ finalMessage }) }),
      )
      expect(result).toMatchObject({ verdict: { pass: false } })
      expect(JSON.stringify(result)).toContain('boom')
    })

    test('is free only if it spends no session', async () => {
      let sessions = 0
      await verify(
        verifyContext({
          session: async () => {
            sessions++
            return sessionResult()
          },
        }),
      )
      if (host.isFree(plugin.name)) expect(sessions).toBe(0)
      else expect(sessions).toBeGreaterThan(0)
    })

    test('takes no broken session or program for a verdict', async () => {
      const broken = async () => {
        throw new RangeError('the agent died')
      }
      const failed = await verify(verifyContext({ session: broken, run: broken })).catch(
        (error: unknown) => error,
      )
      expect(failed).toBeInstanceOf(RangeError)
    })
  })
}
