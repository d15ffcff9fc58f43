import type { VerifyContext } from '../../api/context.ts'
import { type Check, ensure, failureOf, type Subject } from './check.ts'
import { runResult, sessionResult, verifyContext } from './fakes.ts'

/** A verifier under check. */
export interface VerifierSubject extends Subject {
  /** What the programs that it runs print when all is well; default: nothing. */
  goodRun?: string | undefined
}

/** What every verifier must do, whatever it grades. */
export function verifierChecks({ host, name, options, goodRun = '' }: VerifierSubject): Check[] {
  const good = (change: Partial<VerifyContext> = {}) =>
    verifyContext({ run: async () => runResult({ output: goodRun, stdout: goodRun }), ...change })
  const verify = (ctx: VerifyContext) => host.verify(name, options, ctx)
  return [
    {
      name: 'passes what is good',
      async run() {
        const result = await verify(good())
        ensure('verdict' in result, `it reads no verdict: ${JSON.stringify(result)}`)
        ensure(result.verdict.pass, `it does not pass it: ${JSON.stringify(result.verdict)}`)
      },
    },
    {
      name: 'does not pass what is bad, and says why',
      async run() {
        const finalMessage = '{"pass":false,"score":0.25,"reasons":["boom"],"next_hint":"fix boom"}'
        const result = await verify(
          verifyContext({
            artifact: 'boom',
            diff: '+boom',
            run: async () => runResult({ exitCode: 1, output: 'boom', stdout: 'boom' }),
            session: async () => sessionResult({ finalMessage }),
          }),
        )
        ensure('verdict' in result, `it reads no verdict: ${JSON.stringify(result)}`)
        ensure(!result.verdict.pass, 'it passes an artifact whose programs and sessions say "boom"')
        const said = result.verdict.reasons.length > 0 || result.verdict.next_hint !== ''
        ensure(said, 'it says neither a reason nor a hint')
      },
    },
    {
      name: 'is free only if it spends no session',
      async run() {
        let sessions = 0
        const session = async () => {
          sessions += 1
          return sessionResult()
        }
        await verify(good({ session }))
        if (host.isFree(name)) ensure(sessions === 0, 'it says that it is free, and spends a session')
        else ensure(sessions > 0, 'it spends no session: say so with free: true')
      },
    },
    {
      name: 'takes no broken session or program for a verdict',
      async run() {
        let asked = 0
        const broken = async () => {
          asked += 1
          throw new RangeError('the agent died')
        }
        const failed = await failureOf(verify(verifyContext({ session: broken, run: broken })))
        if (asked > 0) ensure(failed instanceof RangeError, `it ends with ${String(failed ?? 'a verdict')}`)
      },
    },
  ]
}
