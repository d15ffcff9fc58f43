import { mkdtempSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { AutomatonError } from '../errors.ts'
import type { HostedHarness } from '../plugin/roles.ts'
import { foreignScript } from '../runner/schedule-record.ts'
import { readSetting } from '../runner/setting.ts'
import { readShellScript } from '../runner/tick-script.ts'
import { installedScript } from '../runner/unit-check.ts'
import { salvageState } from '../store/journal.ts'
import { type LoopPlaces, loopPlaces } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { sessionEnv } from '../system/environment.ts'
import { exec } from '../system/exec.ts'
import { which } from '../system/process.ts'
import { removeTree } from '../system/remove.ts'
import type { DoctorReport, Finding } from './doctor.ts'
import { scriptText, wantedScript } from './schedule-files.ts'

/** Set in the environment of the process that looks. */
const marker = 'AUTOMATON_AS_SCHEDULER'

/** True in the process that {@link asScheduler} started. */
export function isAsScheduler(app: App): boolean {
  return app.env[marker] === '1'
}

/**
 * Starts the program of each tick script with exactly the environment that the script gives it, and has it look. Loops
 * without a schedule are looked at as if one were installed now.
 */
export async function asScheduler(app: App): Promise<DoctorReport> {
  const runs = new Map<string, { self: readonly string[]; env: Record<string, string>; loops: string[] }>()
  const project = app.project()
  const findings: Finding[] = []
  for (const loop of listLoops(project)) {
    const places = loopPlaces(project, loop)
    // What a session wrote in its place could name any program.
    const foreign = scriptText(places) === null ? null : foreignScript(places)
    if (foreign !== null) findings.push(notStarted(loop, foreign))
    const script = foreign === null ? scriptOf(app, places) : null
    if (!script) continue
    const key = JSON.stringify([script.self, script.env])
    const run = runs.get(key) ?? { ...script, loops: [] }
    runs.set(key, { ...run, loops: [...run.loops, loop] })
  }
  if (runs.size === 0 && findings.length === 0) {
    const detail = 'there is no loop to schedule'
    return { ok: true, findings: [{ what: 'scheduler', level: 'hint', detail, fix: 'automaton init' }] }
  }
  for (const run of runs.values()) findings.push(...(await lookAs(app, run)))
  return { ok: findings.every(({ level }) => level !== 'bad'), findings }
}

/** Starts each loop's agent as a session would, far enough to see that it starts and is logged in. */
export async function agentFindings(app: App): Promise<Finding[]> {
  const project = app.project()
  const host = await app.host()
  const seen = new Set<string>()
  const found: Finding[] = []
  for (const loop of listLoops(project)) {
    const places = loopPlaces(project, loop)
    const { config } = readSetting(places, project, app.home)
    if (!config || salvageState(places)?.status === 'complete') continue
    const { use, command, env } = config.harness
    const key = JSON.stringify([use, command, env])
    if (seen.has(key)) continue
    seen.add(key)
    try {
      const harness = command === null ? await host.harness(use) : null
      found.push(...(await agent({ app, harness, program: command?.[0] ?? null, name: use, more: env })))
    } catch (error) {
      if (!(error instanceof AutomatonError)) throw error
      found.push({ what: `agent ${use}`, level: 'bad', detail: error.message, fix: error.fix })
    }
  }
  return found
}

const startMs = 30_000
const lookMs = 180_000

function notStarted(loop: string, detail: string): Finding {
  return { what: `schedule ${loop}`, level: 'bad', detail, fix: `automaton install-schedule ${loop}` }
}

function scriptOf(app: App, places: LoopPlaces): Pick<ReturnType<typeof wanted>, 'self' | 'env'> | null {
  const status = salvageState(places)?.status
  if (status === undefined || status === 'complete') return null
  return installedScript(places) ?? wanted(app, places)
}

/** What the script would be if it were installed now. */
function wanted(app: App, places: LoopPlaces) {
  const { config } = readSetting(places, app.project(), app.home)
  const script = config && readShellScript(wantedScript(app, places, config).text)
  return script ?? { self: app.self, env: { HOME: app.env.HOME ?? homedir(), PATH: app.env.PATH ?? '' } }
}

async function lookAs(
  app: App,
  { self, env, loops }: { self: readonly string[]; env: Record<string, string>; loops: string[] },
): Promise<Finding[]> {
  const what = `as ${loops.join(', ')}`
  const [program = ''] = self
  const again = `automaton install-schedule ${loops[0]}`
  if (which(program, '') === null) {
    const detail = `its tick script starts ${program}, which is gone`
    return [{ what, level: 'bad', detail, fix: again }]
  }
  const argv = [...self, 'doctor', '--as-scheduler', '--json', '--project', app.project().root]
  const { stdout, stderr } = await exec({
    argv,
    cwd: env.HOME ?? '/',
    env: { ...env, [marker]: '1' },
    timeoutMs: lookMs,
    signal: app.signal,
  })
  const report = reportIn(stdout)
  if (!report) {
    const detail = `${program} does not look from there: ${stderr.trim().split('\n', 1)[0] || 'it said nothing'}`
    return [{ what, level: 'bad', detail, fix: again }]
  }
  const seen = Object.keys(env).sort().join(', ')
  return [{ what, level: 'good', detail: `${program}, with ${seen}`, fix: '' }, ...report.findings]
}

/** What an automaton printed, which may be older than this one. */
function reportIn(stdout: string): DoctorReport | null {
  try {
    const report: DoctorReport = JSON.parse(stdout)
    return Array.isArray(report.findings) ? report : null
  } catch {
    return null
  }
}

async function agent(o: {
  app: App
  /** null: `harness.command`. */
  harness: HostedHarness | null
  program: string | null
  name: string
  more: readonly string[]
}): Promise<Finding[]> {
  const { app, harness, name } = o
  const program = o.program ?? harness?.programs[0] ?? name
  const what = `agent ${harness ? name : program}`
  const file = which(program, app.env.PATH ?? '')
  if (file === null) {
    const detail = `${program} is in no folder of PATH=${app.env.PATH ?? ''}`
    return [
      { what, level: 'bad', detail, fix: `install ${program}, or install the schedule where it is found` },
    ]
  }
  if (!harness)
    return [{ what, level: 'good', detail: `${file}; a command of your own is not tried out`, fix: '' }]
  const env = sessionEnv({ env: app.env, allowed: [...harness.env, ...o.more], extra: {} })
  const started = await start(app, [file, '--version'], env)
  if (!started.ok)
    return [
      { what, level: 'bad', detail: `${file} does not start: ${started.said}`, fix: `${program} --version` },
    ]
  const starts: Finding = { what, level: 'good', detail: `${file} starts: ${started.said}`, fix: '' }
  const key = harness.env.find((variable) => /KEY|TOKEN/.test(variable) && env[variable])
  if (key !== undefined) return [starts, { what, level: 'good', detail: `${key} is set`, fix: '' }]
  if (harness.login === null) {
    return [starts, { what, level: 'hint', detail: `${program} cannot say whether it is logged in`, fix: '' }]
  }
  const { ok } = await start(app, [file, ...harness.login], env)
  const login: Finding = ok
    ? { what, level: 'good', detail: 'it is logged in', fix: '' }
    : {
        what,
        level: 'bad',
        detail: `it is not logged in, as scheduled ticks see it`,
        fix: `log in: ${program}`,
      }
  return [starts, login]
}

/** Runs a program in an empty folder. */
async function start(
  app: App,
  argv: string[],
  env: Record<string, string>,
): Promise<{ ok: boolean; said: string }> {
  const cwd = mkdtempSync(join(tmpdir(), 'automaton-doctor-'))
  try {
    const { exitCode, ended, stdout, stderr } = await exec({
      argv,
      cwd,
      env,
      timeoutMs: startMs,
      signal: app.signal,
    })
    const said = (stdout.trim() || stderr.trim()).split('\n', 1)[0]?.slice(0, 200) ?? ''
    if (ended === 'timeout') return { ok: false, said: `it did not end within ${startMs / 1000} s` }
    return { ok: exitCode === 0, said: said || `exit code ${exitCode}` }
  } catch (error) {
    if (error instanceof AutomatonError) return { ok: false, said: error.message }
    throw error
  } finally {
    removeTree(cwd)
  }
}
