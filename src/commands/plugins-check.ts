import type { HookEvents } from '../api/hooks.ts'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { Check } from '../plugin/contract/check.ts'
import { unit } from '../plugin/contract/fakes.ts'
import { harnessChecks } from '../plugin/contract/harness.ts'
import { hookChecks } from '../plugin/contract/hooks.ts'
import { schedulerChecks } from '../plugin/contract/scheduler.ts'
import { sourceChecks } from '../plugin/contract/source.ts'
import { verifierChecks } from '../plugin/contract/verifier.ts'
import { createHost } from '../plugin/host.ts'
import { type UserPlugin, userPlugin } from '../plugin/loader.ts'
import { readTrust } from '../plugin/trust.ts'
import { schedulerContext } from '../runner/scheduler-tools.ts'
import { pluginNamed } from './plugins-file.ts'

/** One check and what came of it. */
export interface Checked {
  /** The suite: a role, `hooks`, or `test` for the plugin's own tests. */
  suite: string
  name: string
  ok: boolean
  /** Why it failed; null when it did not. */
  why: string | null
}

/** What a plugin was found to do. */
export interface CheckReport {
  file: string
  name: string
  ok: boolean
  checks: Checked[]
  /** What was not checked, and why. */
  notes: string[]
}

/**
 * Runs the contract suite of each role that a user's plugin fills, and the plugin's own tests. A plugin that cannot be
 * loaded or set up throws `plugin_failed`.
 */
export async function checkPlugin(app: App, typed: string): Promise<CheckReport> {
  const file = pluginNamed(app, typed)
  const trust = readTrust(app.home)
  const found = trust.records.find((record) => record.file === file.file)
  const failures: string[] = []
  const log = (line: string) => {
    failures.push(line)
    app.progress(line)
  }
  const places = { ...app.pluginPlaces(), log: app.progress }
  const user = userPlugin({ ...places, file, found, distrust: trust.problem, withTests: true })
  try {
    return await check({ app, user, log, failures })
  } finally {
    user.child.close()
  }
}

async function check({
  app,
  user,
  log,
  failures,
}: {
  app: App
  user: UserPlugin
  log(line: string): void
  failures: string[]
}): Promise<CheckReport> {
  const { name } = await user.child.load()
  const { names, contract } = await user.child.tests()
  const host = createHost({ builtins: [], loaded: [{ ...user, problem: null }], log })
  const options = contract.options ?? {}
  const made = await user.plugin.setup({ options })
  const subject = { host, name, options }
  const machine = { ...app, project: { root: app.pluginPlaces().cwd } }
  const context = schedulerContext({ loop: unit().loop, fromTick: false }, machine)
  const suites: [suite: string, checks: Check[]][] = []
  if (made.source) suites.push(['source', sourceChecks(subject)])
  if (made.verifier) suites.push(['verifier', verifierChecks({ ...subject, goodRun: contract.goodRun })])
  if (made.harness) suites.push(['harness', harnessChecks({ ...subject, goodRun: contract.goodRun })])
  if (made.scheduler) suites.push(['scheduler', schedulerChecks({ ...subject, context })])
  if (Object.keys(made.hooks ?? {}).length > 0) suites.push(['hooks', hookChecks({ tell })])
  if (suites.length === 0)
    throw errors.pluginFailed(name, 'setup', 'it returned no role and no hook', undefined, user.fix)
  suites.push(['test', names.map((test) => ({ name: test, run: () => user.child.test(test) }))])
  const checks: Checked[] = []
  for (const [suite, list] of suites)
    for (const one of list) checks.push({ suite, name: one.name, ...(await outcome(one)) })
  const notes =
    made.harness && contract.goodRun === undefined
      ? ['no good run was read: export const contract = { goodRun } in the test file']
      : []
  return { file: user.origin, name, ok: checks.every(({ ok }) => ok), checks, notes }

  async function tell<E extends keyof HookEvents>(event: E, payload: HookEvents[E]): Promise<string[]> {
    failures.length = 0
    // A plugin with a role is listened to once it was set up.
    if (made.source) await host.source(name, options)
    if (made.verifier) await host.verifier(name, options)
    if (made.harness) await host.harness(name, options)
    if (made.scheduler) await host.scheduler(name, options)
    await host.emit(event, payload)
    return [...failures]
  }
}

async function outcome({ run }: Check): Promise<Pick<Checked, 'ok' | 'why'>> {
  try {
    await run()
    return { ok: true, why: null }
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) }
  }
}
