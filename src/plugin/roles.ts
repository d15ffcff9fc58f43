import type { SourceContext, VerifyContext } from '../api/context.ts'
import type { Harness, OutputReader } from '../api/harness.ts'
import type { Scheduler, Unit } from '../api/scheduler.ts'
import type { Verifier } from '../api/verdict.ts'
import type { Source, WorkItem } from '../api/work.ts'
import { type CallSite, callNow, callPlugin, checkResult, lend } from './call.ts'
import * as shapes from './shapes.ts'

/** How long a plugin may take, in milliseconds. */
export interface Limits {
  setup: number
  find: number
  /** Sessions and programs have limits of their own; this one is for a verifier that waits for nothing. */
  verify: number
  schedule: number
  hook: number
}

/** The limits that hold where none are given. */
export const defaultLimits: Limits = {
  setup: 10_000,
  find: 60_000,
  verify: 24 * 3_600_000,
  schedule: 60_000,
  hook: 5_000,
}

/** What the guards need to know of the plugin. */
export interface Guard {
  plugin: string
  limits: Limits
}

/** A source whose every answer was checked. */
export interface HostedSource extends Source {
  find(ctx: SourceContext): Promise<WorkItem[]>
}

/** Puts the door in front of a source. */
export function guardSource(source: Source, { plugin, limits }: Guard): HostedSource {
  const site = { plugin, method: 'find' }
  return {
    async find(ctx) {
      const { signal } = ctx
      const run = (signal: AbortSignal) => source.find({ ...ctx, signal })
      return checkResult(
        site,
        shapes.workItems,
        await callPlugin({ site, limitMs: limits.find, signal, run }),
      )
    },
  }
}

/** Puts the door in front of a verifier. */
export function guardVerifier(verifier: Verifier, { plugin, limits }: Guard): Verifier {
  const site = { plugin, method: 'verify' }
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
export function guardHarness(harness: Harness, { plugin }: Guard): Harness {
  const { programs, remote, env, writes } = harness
  return {
    programs,
    remote: remote === true,
    env: env ?? [],
    writes: writes ?? [],
    command(request) {
      const site = { plugin, method: 'command' }
      return checkResult(
        site,
        shapes.sessionCommand,
        callNow(site, () => harness.command(request)),
      )
    },
    reader() {
      const site = { plugin, method: 'reader' }
      const reader = callNow(site, () => harness.reader())
      checkResult(site, shapes.reader, reader)
      return guardReader(reader, { plugin, method: 'reading the output' })
    },
  }
}

/** A line that the reader chokes on must not break the session that writes it: the end tells. */
function guardReader(reader: OutputReader, site: CallSite): OutputReader {
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
    end(end) {
      if (failed) throw failed.error
      return checkResult(
        site,
        shapes.sessionReport,
        callNow(site, () => reader.end(end)),
      )
    },
  }
}

/** Puts the door in front of a scheduler. */
export function guardScheduler(scheduler: Scheduler, { plugin, limits }: Guard): Scheduler {
  const call = (method: keyof Scheduler, unit: Unit) =>
    callPlugin({ site: { plugin, method }, limitMs: limits.schedule, run: () => scheduler[method](unit) })
  const act = (method: keyof Scheduler) => async (unit: Unit) => {
    await call(method, unit)
  }
  return {
    install: act('install'),
    remove: act('remove'),
    enable: act('enable'),
    disable: act('disable'),
    inspect: async (unit) =>
      checkResult({ plugin, method: 'inspect' }, shapes.unitState, await call('inspect', unit)),
  }
}
