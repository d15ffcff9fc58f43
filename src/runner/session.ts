import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Role, SessionReport } from '../api/harness.ts'
import { resolveModel } from '../machine/models.ts'
import { readBounded, writeAtomic } from '../store/atomic.ts'
import { outputFile } from '../store/outputs.ts'
import { sessionEnv } from '../system/environment.ts'
import { type ExecResult, exec } from '../system/exec.ts'
import { maskSecrets } from '../system/hygiene.ts'
import { runFolder } from '../system/snapshot.ts'
import { Interrupted } from './interrupt.ts'
import type { Journalist } from './journalist.ts'
import { renderPrompt } from './prompt.ts'
import type { Scene, Site, Work } from './scene.ts'
import { agentBin } from './self.ts'

const paperLimit = 4 << 20

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
  failure: { why: string; fix: string } | null
}

/** Runs one agent session in the site and harvests what it left. Throws {@link Interrupted} when told to stop. */
export async function runSession(spec: SessionSpec): Promise<SessionOutcome> {
  const { scene, site, work, role } = spec
  const { deps, places, config } = scene
  const papers = preparePapers(spec)
  const model = resolveModel({ role, phase: work.phase, config, models: scene.models })
  const prompt = renderPrompt(spec, { output: papers.output, model })
  const promptFile = outputFile(places, scene.tick, `${role}-prompt.md`)
  const mask = maskSecrets(deps.env)
  writeAtomic(promptFile, mask(prompt.text))
  scene.warnings.push(...prompt.warnings)

  const harness = config.harness.command
    ? deps.host.harness('command', { command: config.harness.command })
    : deps.host.harness(config.harness.use, {})
  const tokens = { ...prompt.values, artifact: outputFile(places, scene.tick, 'implement.md') }
  const command = harness.command({
    role,
    model,
    prompt: prompt.text,
    promptFile,
    cwd: site.cwd,
    output: papers.output,
    tokens,
  })
  scene.warnings.push(...(command.notes ?? []))
  const id = randomUUID()
  const env = sessionEnv({
    env: deps.env,
    allowed: [...(harness.env ?? []), ...config.harness.env],
    extra: { ...command.env, ...tickEnv(spec, papers) },
  })
  env.PATH = `${agentBin(deps)}:${env.PATH ?? ''}`

  const reader = harness.reader()
  const seconds = deps.clock.seconds()
  await deps.host.emit('session:start', { loop: places.name, tick: scene.tick, role, task: work.task })
  const result = await exec({
    argv: command.argv,
    cwd: site.cwd,
    env,
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
  const report = reader.end({ exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr })
  const outcome = harvest(spec, papers, { report, result, id, model })
  scene.ledger.add(outcome.report.usage)
  spec.journalist.charged()
  await deps.host.emit('session:end', {
    loop: places.name,
    tick: scene.tick,
    role,
    task: work.task,
    ok: outcome.failure === null,
    seconds: deps.clock.seconds() - seconds,
  })
  if (result.ended === 'aborted') throw new Interrupted()
  return outcome
}

/** The files that a session and automaton pass to each other, in the one folder that the agent may write. */
interface Papers {
  folder: string
  output: string
  cost: string
  intent: string
}

/** Makes the folder anew, so that nothing planted there before the session is ever read. */
function preparePapers({ site, role }: SessionSpec): Papers {
  const folder = join(site.cwd, runFolder)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(join(folder, '.gitignore'), '*\n', { mode: 0o600 })
  return {
    folder,
    output: join(folder, `${role}.md`),
    cost: join(folder, 'cost.json'),
    intent: join(folder, 'intent.json'),
  }
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
    AUTOMATON_BIN: join(agentBin(scene.deps), 'automaton'),
    ...(role === 'orchestrate' ? { AUTOMATON_INTENT: papers.intent } : {}),
  }
}

/** Reads the papers without following links, keeps them in outputs/, and takes the folder away. */
function harvest(
  { scene, role }: SessionSpec,
  papers: Papers,
  ended: { report: SessionReport; result: ExecResult; id: string; model: string | null },
): SessionOutcome {
  const mask = maskSecrets(scene.deps.env)
  const keep = (name: string, text: string) =>
    writeAtomic(outputFile(scene.places, scene.tick, name), mask(text))
  const read = (file: string) => readPaper(file, scene.warnings)
  const output = read(papers.output)
  const intent = role === 'orchestrate' ? read(papers.intent) : null
  const cost = read(papers.cost)
  if (cost !== null) keep(`${role}-cost.json`, cost)
  if (intent !== null) keep('intent.json', intent)
  keep(`${role}.md`, output ?? ended.report.finalMessage ?? '')
  rmSync(dirname(papers.output), { recursive: true, force: true })
  const usage = mergeUsage(ended.report.usage, cost, scene.warnings)
  return {
    report: { ...ended.report, usage },
    output,
    intent,
    id: ended.report.sessionId ?? ended.id,
    model: ended.model,
    failure: failureOf(role, ended.result, ended.report),
  }
}

function readPaper(file: string, warnings: string[]): string | null {
  try {
    return readBounded(file, paperLimit)
  } catch (error) {
    warnings.push(`ignored ${basename(file)}: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
}

/** The cost file is the session's own word: it can raise what the harness reported, never lower it. */
function mergeUsage(reported: SessionReport['usage'], text: string | null, warnings: string[]) {
  const own = text === null ? {} : parseCost(text, warnings)
  return { usd: larger(reported.usd, own.usd), tokens: larger(reported.tokens, own.tokens) }
}

function parseCost(text: string, warnings: string[]): { usd?: number; tokens?: number } {
  try {
    const cost: unknown = JSON.parse(text)
    if (typeof cost !== 'object' || cost === null) throw new Error('not an object')
    const amount = (name: string) => {
      const value: unknown = Reflect.get(cost, name)
      if (value === undefined) return undefined
      if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
      throw new Error(`${name} is not a number of 0 or more`)
    }
    const usd = amount('usd')
    const tokens = amount('tokens')
    return { ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) }
  } catch (error) {
    warnings.push(`cost file ignored: ${error instanceof Error ? error.message : String(error)}`)
    return {}
  }
}

function larger(a: number | null, b: number | undefined): number | null {
  const valid = [a, b].filter((n): n is number => typeof n === 'number' && Number.isFinite(n) && n >= 0)
  return valid.length === 0 ? null : Math.max(...valid)
}

function failureOf(role: Role, result: ExecResult, report: SessionReport): SessionOutcome['failure'] {
  const log = `look at the ${role} log in outputs/`
  if (result.ended === 'timeout') return { why: 'it ran past harness.timeout_seconds', fix: log }
  if (result.ended === 'idle') return { why: 'it said nothing for harness.idle_seconds', fix: log }
  if (report.error)
    return { why: report.error.message, fix: report.error.kind === 'login' ? 'log the agent in' : log }
  if (result.signal) return { why: `it was killed by ${result.signal}`, fix: log }
  if (result.exitCode !== 0)
    return { why: `it exited with ${result.exitCode}: ${lastLine(result.stderr)}`, fix: log }
  if (!report.finished) return { why: 'it exited with 0 but without its closing event', fix: log }
  return null
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? ''
}
