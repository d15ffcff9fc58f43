import type { Role, SessionErrorKind, SessionReport } from '../api/harness.ts'
import { errors } from '../errors.ts'
import { contextFloor, type RoleContext } from '../machine/budget.ts'
import { contextFix, floorWords } from '../machine/gate.ts'
import { resolveModel } from '../machine/models.ts'
import { costOf } from '../machine/prices.ts'
import { writeAtomic } from '../store/atomic.ts'
import { outputFile } from '../store/outputs.ts'
import { putFirstOnPath, sessionEnv } from '../system/environment.ts'
import { type ExecResult, exec } from '../system/exec.ts'
import { maskSecrets } from '../system/hygiene.ts'
import { openRoot } from '../system/open-up.ts'
import { contain } from './containment.ts'
import { contextsOf } from './context.ts'
import type { Journalist } from './journalist.ts'
import { mergeUsage, type Papers, preparePapers, readPapers, readReport, removePapers } from './papers.ts'
import { renderPrompt } from './prompt.ts'
import type { Scene, Site, Work } from './scene.ts'
import { agentBin } from './self.ts'
import { type Failure, SessionFailed } from './session-failed.ts'

/** One session to run. */
export interface SessionSpec {
  scene: Scene
  site: Site
  work: Work
  role: Role
  /** Values for the prompt beyond the task's own. */
  values: { artifact_content?: string; diff?: string; verdict?: string }
  /** The last verdict's hint, for the implement session. */
  hint: string
  journalist: Journalist
}

/** A session that ended, well or not. */
export interface SessionOutcome {
  report: SessionReport
  /** What it wrote to `AUTOMATON_OUTPUT`; null when it wrote nothing. */
  output: string | null
  /** The text of its intent file, orchestrate only. */
  intent: string | null
  /** Automaton's own id of the session, unless the harness has one. */
  id: string
  model: string | null
  /** Null when it ended well; else why it counts as failed, and what a person can do. */
  failure: Failure | null
}

/** Runs one agent session in the site and harvests what it left. Throws the signal's reason when told to stop. */
export async function runSession(spec: SessionSpec): Promise<SessionOutcome> {
  const { scene, site, work, role } = spec
  const { deps, places, config } = scene
  const papers = preparePapers(site.cwd, role)
  const model = resolveModel({ role, phase: work.phase, config, models: scene.models })
  const harness = await (config.harness.command
    ? deps.host.harness('command', { command: config.harness.command })
    : deps.host.harness(config.harness.use, {}))
  const { roles: contexts } = await contextsOf({ config, setting: scene, phase: work.phase, deps })
  requireFloor(contexts, role)
  const prompt = await renderPrompt(spec, { output: papers.output, model, contexts })
  const promptFile = outputFile(places, scene.tick, `${role}-prompt.md`)
  const mask = maskSecrets(deps.env)
  writeAtomic(promptFile, mask(prompt.text))
  scene.warnings.push(...prompt.warnings)

  const tokens = { ...prompt.values, artifact: outputFile(places, scene.tick, 'implement.md') }
  const command = await harness.command({
    role,
    model,
    prompt: prompt.text,
    promptFile,
    cwd: site.cwd,
    output: papers.output,
    tokens,
    contained: scene.sandbox.tier === 'T1',
  })
  scene.warnings.push(...(command.notes ?? []))
  const id = crypto.randomUUID()
  const env = sessionEnv({
    env: deps.env,
    allowed: [...harness.env, ...config.harness.env],
    extra: { ...command.env, ...tickEnv(spec, papers) },
  })
  putFirstOnPath(env, agentBin(deps).folder)

  using contained = contain(scene, site, { argv: command.argv, env, writes: harness.writes })
  scene.warnings.push(...contained.notes)
  const reader = harness.reader()
  const seconds = deps.clock.seconds()
  await deps.host.emit('session:start', { loop: places.name, tick: scene.tick, role, task: work.task })
  const result = await exec({
    argv: contained.argv,
    cwd: site.cwd,
    env: { ...env, ...contained.env },
    ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
    timeoutMs: config.harness.timeout_seconds * 1000,
    idleMs: config.harness.idle_seconds * 1000,
    signal: deps.signal,
    logFile: outputFile(places, scene.tick, `${role}.log`),
    mask,
    onLine: (line) => reader.line(line),
    onSpawn: (who) => spec.journalist.spawned(role, who),
    runId: scene.run,
  })
  if (site.kind === 'worktree') openRoot(site.root)
  const { exitCode, stdout, stderr } = result
  const own = command.report === undefined ? null : readReport(papers, command.report, scene.warnings)
  const read = await reader.end({ exitCode, stdout, stderr, at: deps.clock.iso(), report: own })
  const report = masked(read, mask)
  const outcome = harvest(spec, papers, { report, result, id, model })
  await deps.host.emit('session:end', {
    loop: places.name,
    tick: scene.tick,
    role,
    task: work.task,
    ok: outcome.failure === null,
    seconds: deps.clock.seconds() - seconds,
  })
  if (result.lives) throw errors.sessionLives(places.name)
  if (result.ended === 'aborted') throw deps.signal.reason
  return outcome
}

/** The gate looked at every role; a server may have loaded its model anew since. */
function requireFloor(contexts: readonly RoleContext[], role: Role): void {
  const short = contexts.filter((context) => context.role === role && context.effective < contextFloor)
  if (short.length === 0) return
  throw new SessionFailed(role, { why: floorWords(short), fix: contextFix(short), kind: 'config' }, null)
}

function tickEnv({ scene, work, role }: SessionSpec, papers: Papers): Record<string, string> {
  return {
    AUTOMATON_IN_TICK: scene.places.name,
    AUTOMATON_ROLE: role,
    AUTOMATON_TASK: work.task,
    AUTOMATON_PHASE: work.phase,
    AUTOMATON_OUTPUT: papers.output,
    AUTOMATON_COST_FILE: papers.cost,
    AUTOMATON_RUN_ID: scene.run,
    AUTOMATON_HOME: scene.deps.home,
    AUTOMATON_BIN: agentBin(scene.deps).program,
    ...(role === 'orchestrate' ? { AUTOMATON_INTENT: papers.intent } : {}),
  }
}

/**
 * Charges the session, and keeps what it left in outputs/, in this order: what it cost is known even where nothing can be
 * kept. No text of a session leaves this file with a secret of the environment in it.
 */
function harvest(
  { scene, role, journalist }: SessionSpec,
  papers: Papers,
  ended: { report: SessionReport; result: ExecResult; id: string; model: string | null },
): SessionOutcome {
  const { places, tick, warnings, deps, prices, ledger } = scene
  const mask = maskSecrets(deps.env)
  const left = readPapers(papers, role, warnings)
  const { usage } = ended.report
  // Before the session's own word counts, which could name a smaller sum.
  const usd = costOf(usage, ended.model, prices)
  const merged = mergeUsage({ ...usage, usd }, left.cost, warnings)
  // Where only the session told tokens, they have a price too.
  merged.usd ??= costOf({ ...usage, ...merged }, ended.model, prices)
  ledger.add(merged)
  journalist.charged()
  removePapers(papers)
  const keep = (name: string, text: string) => writeAtomic(outputFile(places, tick, name), text)
  const output = left.output === null ? null : mask(left.output)
  const intent = left.intent === null ? null : mask(left.intent)
  if (left.cost !== null) keep(`${role}-cost.json`, mask(left.cost))
  if (intent !== null) keep('intent.json', intent)
  keep(`${role}.md`, output ?? ended.report.finalMessage ?? '')
  return {
    report: { ...ended.report, usage: merged },
    output,
    intent,
    id: ended.report.sessionId ?? ended.id,
    model: ended.model,
    failure: failureOf(role, { ...ended.result, stderr: mask(ended.result.stderr) }, ended.report),
  }
}

function masked(report: SessionReport, mask: (text: string) => string): SessionReport {
  const { finalMessage, error } = report
  return {
    ...report,
    finalMessage: finalMessage === null ? null : mask(finalMessage),
    error: error && { ...error, message: mask(error.message) },
  }
}

function failureOf(role: Role, result: ExecResult, report: SessionReport): Failure | null {
  const log = `look at the ${role} log in outputs/`
  const failed = (why: string): Failure => ({ why, fix: log, kind: null })
  const { error } = report
  // Some agents try again until they are stopped: then the limit that they met says more than the clock.
  if (error && fixes[error.kind] !== undefined) return said(error, log)
  if (result.ended === 'timeout') return failed('it ran past harness.timeout_seconds')
  if (result.ended === 'idle') return failed('it said nothing for harness.idle_seconds')
  if (error) return said(error, log)
  if (result.signal) return failed(`it was killed by ${result.signal}`)
  if (result.exitCode !== 0) return failed(`it exited with ${result.exitCode}: ${lastLine(result.stderr)}`)
  return report.finished ? null : failed('it exited with 0 but without its closing event')
}

/** What a person does about the errors that say so by their kind. */
const fixes: Partial<Record<SessionErrorKind, string>> = {
  login: 'log the agent in',
  credit: 'add credit, or choose another harness or model in loop.json',
  rate_limit: 'wait for the limit to end',
}

function said(error: NonNullable<SessionReport['error']>, log: string): Failure {
  const { kind, message, retryAt } = error
  return { why: message, fix: fixes[kind] ?? log, kind, ...(retryAt === undefined ? {} : { retryAt }) }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? ''
}
