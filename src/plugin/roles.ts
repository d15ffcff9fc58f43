import type { SourceContext, VerifyContext } from '../api/context.ts'
import type { Harness, OutputReader, SessionCommand, SessionReport, SessionRequest } from '../api/harness.ts'
import type { Scheduler, SchedulerContext, Unit } from '../api/scheduler.ts'
import type { Verifier } from '../api/verdict.ts'
import type { Source, WorkItem } from '../api/work.ts'
import { type CallSite, callNow, callPlugin, checkResult, lend } from './call.ts'
import * as shapes from './shapes.ts'

/** How long a plugin may take, in milliseconds. */
export interface Limits {
  setup: number
  find: number
  /** For a harness in a process of its own: its command line, and its report at the end. */
  command: number
  /** Sessions and programs have limits of their own; this one is for a verifier that waits for nothing. */
  verify: number
  schedule: number
  hook: number
}

/** The limits that hold where none are given. */
export const defaultLimits: Limits = {
  setup: 10_000,
  find: 60_000,
  command: 10_000,
  verify: 24 * 3_600_000,
  schedule: 60_000,
  hook: 5_000,
}

/** Limits for a plugin in a process of its own: the link keeps the real ones, and ends the process with them. */
export const noLimits: Limits = {
  setup: Number.MAX_SAFE_INTEGER,
  find: Number.MAX_SAFE_INTEGER,
  command: Number.MAX_SAFE_INTEGER,
  verify: Number.MAX_SAFE_INTEGER,
  schedule: Number.MAX_SAFE_INTEGER,
  hook: Number.MAX_SAFE_INTEGER,
}

/** What the guards need to know of the plugin. */
export interface Guard {
  site(method: string): CallSite
  limits: Limits
}

/** A harness in this process, or one in another, which answers later. */
export type HarnessLike = Pick<Harness, 'programs' | 'remote' | 'env' | 'writes' | 'login'> & {
  command(request: SessionRequest): SessionCommand | Promise<SessionCommand>
  reader(): Pick<OutputReader, 'line'> & {
    end(end: Parameters<OutputReader['end']>[0]): SessionReport | Promise<SessionReport>
  }
}

/** A harness whose every answer was checked. */
export interface HostedHarness extends Required<Pick<Harness, 'programs' | 'remote' | 'env' | 'writes'>> {
  /** null: it cannot tell. */
  login: string[] | null
  command(request: SessionRequest): Promise<SessionCommand>
  /** Its `line` never fails. */
  reader(): Pick<OutputReader, 'line'> & {
    end(end: Parameters<OutputReader['end']>[0]): Promise<SessionReport>
  }
}

/** A source whose every answer was checked. */
export interface HostedSource extends Source {
  find(ctx: SourceContext): Promise<WorkItem[]>
}

/** Puts the door in front of a source. */
export function guardSource(source: Source, at: Guard): HostedSource {
  const site = at.site('find')
  const { limits } = at
  return {
    async find(ctx) {
      const { signal } = ctx
      const lent = new Set<unknown>()
      const { waits, isWaiting } = waitingFor(lent)
      const program: SourceContext['run'] = waits((argv, options) => ctx.run(argv, options))
      const onBase: SourceContext['runOnBase'] = waits((argv, options) => ctx.runOnBase(argv, options))
      const run = (signal: AbortSignal) => source.find({ ...ctx, signal, run: program, runOnBase: onBase })
      const answer = await callPlugin({ site, limitMs: limits.find, signal, lent, isWaiting, run })
      return checkResult(site, shapes.workItems, answer)
    },
  }
}

/** Puts the door in front of a verifier. */
export function guardVerifier(verifier: Verifier, at: Guard): Verifier {
  const site = at.site('verify')
  const { limits } = at
  return {
    free: verifier.free === true,
    async verify(ctx) {
      const { signal } = ctx
      const lent = new Set<unknown>()
      const session: VerifyContext['session'] = lend(lent, (role) => ctx.session(role))
      const program: VerifyContext['run'] = lend(lent, (argv, options) => ctx.run(argv, options))
      const run = (signal: AbortSignal) => verifier.verify({ ...ctx, signal, session, run: program })
      const answer = await callPlugin({ site, limitMs: limits.verify, signal, lent, run })
      return checkResult(site, shapes.verifierResult, answer)
    },
  }
}

/** Puts the door in front of a harness. */
export function guardHarness(harness: HarnessLike, at: Guard): HostedHarness {
  const { programs, remote, env, writes, login } = harness
  const { limits } = at
  return {
    programs,
    remote: remote === true,
    env: env ?? [],
    writes: writes ?? [],
    login: login ?? null,
    async command(request) {
      const site = at.site('command')
      const run = () => harness.command(request)
      return checkResult(
        site,
        shapes.sessionCommand,
        await callPlugin({ site, limitMs: limits.command, run }),
      )
    },
    reader() {
      const site = at.site('reader')
      const reader = callNow(site, () => harness.reader())
      checkResult(site, shapes.reader, reader)
      return guardReader(reader, { ...at, site: () => at.site('reading the output') })
    },
  }
}

/** A line that the reader chokes on must not break the session that writes it: the end tells. */
function guardReader(
  reader: ReturnType<HarnessLike['reader']>,
  at: Guard,
): ReturnType<HostedHarness['reader']> {
  const site = at.site('end')
  let failed: { error: unknown } | null = null
  return {
    line(text) {
      if (failed) return
      try {
        callNow(site, () => reader.line(text))
      } catch (error) {
        failed = { error }
      }
    },
    async end(end) {
      if (failed) throw failed.error
      const run = () => reader.end(end)
      const report = await callPlugin({ site, limitMs: at.limits.command, run })
      return checkResult(site, shapes.sessionReport, report)
    },
  }
}

/** Puts the door in front of a scheduler. While a program runs for it, which has a limit of its own, it has time. */
export function guardScheduler(scheduler: Scheduler, { site, limits }: Guard): Scheduler {
  const call = async (method: keyof Scheduler, unit: Unit, ctx: SchedulerContext) => {
    const { signal } = ctx
    const lent = new Set<unknown>()
    const { waits, isWaiting } = waitingFor(lent)
    const program: SchedulerContext['run'] = waits((argv, options) => ctx.run(argv, options))
    const tools = {
      run: program,
      readFile: lend(lent, ctx.readFile),
      writeFile: lend(lent, ctx.writeFile),
      removeFile: lend(lent, ctx.removeFile),
    }
    const run = (signal: AbortSignal) => scheduler[method](unit, { ...ctx, ...tools, signal })
    return callPlugin({ site: site(method), limitMs: limits.schedule, signal, lent, isWaiting, run })
  }
  const act = (method: keyof Scheduler) => async (unit: Unit, ctx: SchedulerContext) => {
    await call(method, unit, ctx)
  }
  return {
    install: act('install'),
    remove: act('remove'),
    enable: act('enable'),
    disable: act('disable'),
    inspect: async (unit, ctx) =>
      checkResult(site('inspect'), shapes.unitState, await call('inspect', unit, ctx)),
  }
}

/** Lends functions that take their own time: `isWaiting` is true while one runs, and once after it ended. */
function waitingFor(lent: Set<unknown>) {
  let open = 0
  let waited = false
  return {
    waits: <A extends unknown[], T>(run: (...args: A) => Promise<T>) =>
      lend(lent, async (...args: A) => {
        open += 1
        try {
          return await run(...args)
        } finally {
          open -= 1
          waited = true
        }
      }),
    // After a wait the plugin has its whole time again.
    isWaiting() {
      const was = waited
      waited = false
      return open > 0 || was
    },
  }
}
