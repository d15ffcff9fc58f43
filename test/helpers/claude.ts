import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from './cli.ts'
import { goodAgent, makeProject, type ProjectOptions, type TestProject } from './project.ts'

/** What the fake agent says in one role. */
export interface Says {
  /** Lines of `--output-format stream-json`. */
  lines: object[]
  exit?: number
  /** What it does before. */
  script?: string
}

/** A project whose agent is a fake `claude`, found on PATH. */
export interface ClaudeProject extends TestProject {
  says(role: 'implement' | 'verify' | 'orchestrate', says: Says): void
}

/** The closing event of a good run. */
export function goodEnd(text: string, more: object = {}): object {
  return { type: 'result', subtype: 'success', is_error: false, result: text, session_id: 's-1', ...more }
}

/** The closing event of a run that failed. */
export function badEnd(text: string, more: object = {}): object {
  return { type: 'result', subtype: 'success', is_error: true, result: text, session_id: 's-1', ...more }
}

const verdict = '{"pass": true, "score": 0.9, "reasons": ["fine"], "next_hint": ""}'

/** Makes the project. By default every session goes well and says no cost. */
export async function claudeProject(options: ProjectOptions = {}): Promise<ClaudeProject> {
  const p = await makeProject(options)
  const bin = join(p.scenarioDir, 'bin')
  mkdirSync(bin)
  copyFileSync(join(import.meta.dir, '..', 'fixtures', 'bin', 'claude-says'), join(bin, 'claude'))
  p.configure({ harness: { use: 'claude', command: null } })
  const env = { PATH: `${bin}:${process.env.PATH ?? ''}` }
  const call = (args: string[], extra: object = {}): Promise<Call> => p.call(args, { env, ...extra })
  const project: ClaudeProject = {
    ...p,
    call,
    tick: (...args) => call(['tick', p.loop, ...args]),
    says(role, { lines, exit = 0, script = '' }) {
      writeFileSync(join(bin, `${role}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      writeFileSync(join(bin, `${role}.sh`), script)
      rmSync(join(bin, `${role}.exit`), { force: true })
      if (exit !== 0) writeFileSync(join(bin, `${role}.exit`), String(exit))
    },
  }
  project.says('implement', { lines: [goodEnd('Did the work.')], script: goodAgent.implement ?? '' })
  project.says('verify', { lines: [goodEnd(verdict)] })
  project.says('orchestrate', { lines: [goodEnd('Moved on.')], script: goodAgent.orchestrate ?? '' })
  return project
}
