import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { type AutomatonError, errors } from '../errors.ts'
import type { Halt } from '../machine/state.ts'
import type { TickReport } from '../runner/report.ts'
import { tick } from '../runner/tick.ts'
import { findProject } from '../store/layout.ts'
import { which } from '../system/process.ts'
import { realPath } from '../system/real-path.ts'
import { approveLoop } from './approve.ts'
import { commitAll } from './commit-all.ts'
import { createLoop } from './create-loop.ts'
import { createTask } from './create-task.ts'
import { writeDemoRepository } from './demo-files.ts'

/** What the demo did. */
export interface DemoReport {
  folder: string
  repository: string
  /** How to call this automaton. */
  program: string
  /** The first loop: one task, from implement to complete. */
  complete: { loop: string; task: string; ticks: number; branch: string }
  /** The second loop: a brake, a person's approval, and on. */
  braked: { loop: string; task: string; halt: Halt; after: string }
  seconds: number
}

const maxTicks = 12

/**
 * Shows the main job without a network: a task goes through its phases to the end; then a second loop oversteps its
 * scope, halts, is approved, and goes on. Everything happens in a throwaway folder, by the same code as always.
 */
export async function demo(app: App, say: (line: string) => void): Promise<DemoReport> {
  const started = app.clock.seconds()
  if (!which('git', app.env.PATH ?? '')) throw errors.gitMissing()
  if (!which('sh', app.env.PATH ?? '')) {
    throw errors.cannotRun('sh', 'it is in no folder of PATH', 'put the folder of sh on PATH')
  }
  const folder = realPath(mkdtempSync(join(tmpdir(), 'automaton-demo-')))
  const repository = join(folder, 'slug')
  const home = join(folder, 'home')
  for (const dir of [repository, join(home, '.automaton')]) mkdirSync(dir, { recursive: true })
  // There is no model: whatever memory this machine has must not keep the demo from running.
  writeFileSync(join(home, '.automaton', 'config.md'), 'backend: remote\n')
  say(`a small repository with a failing test: ${repository}`)
  writeDemoRepository(repository)
  await commitAll({ path: app.env.PATH ?? '', cwd: repository, message: 'A slug, and a test' })
  const person = await asPerson(app, repository, home)

  say('\na task for it, and a loop that works on it:')
  const brief = 'bin/slug lets punctuation and double spaces through. Make `sh test/run.sh` pass.\n'
  await createTask(person, taskOptions('fix-slug', brief))
  await makeLoop(person, { loop: 'nightly', task: 'fix-slug', scope: ['bin/', 'test/'] })
  const complete = await runToEnd(person, 'nightly', say)

  say('\na second loop, which may touch nothing but bin/:')
  await createTask(person, taskOptions('say-usage', 'Say in the first lines of bin/slug how it is called.\n'))
  await makeLoop(person, { loop: 'tidy', task: 'say-usage', scope: ['bin/'] })
  const braked = await meetBrake(person, say)
  return {
    folder,
    repository,
    program: app.self.join(' '),
    complete: { loop: 'nightly', task: 'fix-slug', ticks: complete, branch: 'automaton/nightly' },
    braked: { loop: 'tidy', task: 'say-usage', ...braked },
    seconds: app.clock.seconds() - started,
  }
}

/** The same app, at home in the throwaway folder. */
async function asPerson(app: App, repository: string, userHome: string): Promise<App> {
  const home = join(userHome, '.automaton')
  const project = findProject({ cwd: repository, home, flag: repository })
  const env = { ...app.env, HOME: userHome }
  const host = await app.host()
  const { clock, self, signal } = app
  const progress = () => {}
  const deps = async () => ({ project, home, env, clock, progress, host, self, byScheduler: false, signal })
  return { ...app, home, env, cwd: repository, project: () => project, deps }
}

/** A loop by the command that everybody uses, then edited the way a person edits loop.json. */
async function makeLoop(app: App, o: { loop: string; task: string; scope: string[] }): Promise<void> {
  const { file } = await createLoop(app, {
    loop: o.loop,
    template: 'backlog',
    task: o.task,
    harness: null,
    interval: null,
    scope: o.scope,
    base: null,
    worktree: true,
  })
  const config = JSON.parse(await readFile(file, 'utf8'))
  config.harness.command = [...app.self, 'demo-agent', '{prompt}']
  config.harness.writes = ['~/agent']
  config.verifiers = [{ use: 'command', options: { commands: [['sh', 'test/run.sh']] } }, { use: 'session' }]
  if (o.loop === 'tidy') config.verifiers = [{ use: 'session' }]
  await writeFile(file, `${JSON.stringify(config, null, 2)}\n`)
}

async function runToEnd(app: App, loop: string, say: (line: string) => void): Promise<number> {
  for (let ticks = 1; ticks <= maxTicks; ticks++) {
    const report = await oneTick(app, loop, say)
    if (report.outcome === 'worked' && report.complete) return ticks
    if (report.outcome !== 'worked' || report.halt) throw broken(loop, report)
  }
  throw new Error(`the demo's loop ${loop} did not end in ${maxTicks} ticks`)
}

async function meetBrake(app: App, say: (line: string) => void): Promise<{ halt: Halt; after: string }> {
  const first = await oneTick(app, 'tidy', say)
  if (first.outcome !== 'worked' || !first.halt) throw broken('tidy', first)
  const { halt } = first
  say(`    halted: ${halt.reason}, ${halt.files.join(', ')}; it will not tick again by itself`)
  say(`  automaton approve --loop tidy --halt ${halt.id} --discard`)
  await approveLoop(app, { loop: 'tidy', halt: halt.id, note: 'demo', discard: true })
  say('    approved: the worktree is back at its last verified commit, what was there is kept under a ref')
  const second = await oneTick(app, 'tidy', say)
  if (second.outcome !== 'worked' || second.halt) throw broken('tidy', second)
  return { halt, after: second.to }
}

async function oneTick(app: App, loop: string, say: (line: string) => void): Promise<TickReport> {
  const report = await tick(loop, await app.deps(), { scheduled: false })
  if (report.outcome !== 'worked') return report
  const { verdict, from, to } = report
  const grade = verdict ? `${verdict.pass ? 'pass' : 'fail'} ${verdict.score.toFixed(2)}` : 'not graded'
  const moved = from === to ? `${from} (again)` : `${from} → ${to}`
  say(
    `  tick ${report.tick}  ${moved.padEnd(40)} ${grade}${verdict?.reasons[0] ? `: ${verdict.reasons[0]}` : ''}`,
  )
  return report
}

function broken(loop: string, report: TickReport): AutomatonError | Error {
  return new Error(`the demo's loop ${loop} did not go as written: ${JSON.stringify(report)}`)
}

function taskOptions(task: string, brief: string) {
  return { task, brief, phase: null, scope: [], criteria: [], fingerprint: null, design: null }
}
