import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '../helpers/cli.ts'
import { goodAgent, makeProject, must, type ProjectOptions, type TestProject } from '../helpers/project.ts'

/** The end of every session that attacks: an artifact, so that nothing else is wrong with it. */
export const artifact = 'echo done > "$AUTOMATON_OUTPUT"'

/** A commit by the agent itself. */
export const gitCommit = 'git -c user.name=a -c user.email=a@a commit -qm x'

/** A loop that may touch only src/, and a file of each kind that is not in it. */
export const files = {
  'README.md': '# test\n',
  'src/work.txt': 'start\n',
  'tool.sh': '#!/bin/sh\n',
  '.gitignore': 'ignored/\n',
}

/** A project whose sessions nothing holds (tier T0), unless `sandbox` says otherwise. */
export function makeTarget(options: ProjectOptions = {}, sandbox = 'off'): Promise<TestProject> {
  const { blast_radius = {}, ...loop } = options.loop ?? {}
  return makeProject({ ...options, loop: { ...loop, blast_radius: { sandbox, ...Object(blast_radius) } } })
}

/** One tick whose implement session does the given thing. */
export interface Attacked extends Disposable {
  p: TestProject
  call: Call
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON files freely
  halt: any
}

/** Runs one tick of an attacker in a loop whose scope is src/; before it, what a person does. */
export async function attack(
  script: string,
  options: ProjectOptions = {},
  before: (p: TestProject) => void = () => {},
): Promise<Attacked> {
  const { scenario, ...rest } = options
  const p = await makeTarget({
    files,
    createArgs: ['--scope', 'src/'],
    scenario: { implement: `${script}\n${artifact}`, ...scenario },
    ...rest,
  })
  before(p)
  const call = await p.tick()
  return { p, call, halt: p.state().halt, [Symbol.dispose]: () => p[Symbol.dispose]() }
}

/** What came of one thing that a session tried. */
export interface Tried {
  code: number
  output: string
}

/**
 * A session's script that tries things one after the other, each in a shell of its own, and notes exit code and
 * output; and where to read them afterwards. The session ends with an artifact.
 */
export function trying(p: TestProject, attempts: Record<string, string>) {
  const dir = join(p.scenarioDir, 'tries')
  mkdirSync(dir, { recursive: true })
  const names = Object.keys(attempts)
  const lines = names.map((name, i) => {
    writeFileSync(join(dir, `${i}.sh`), `${attempts[name]}\n`)
    const base = join(dir, String(i))
    return `sh '${base}.sh' </dev/null >'${base}.out' 2>&1; echo $? > '${base}.code'`
  })
  return {
    script: [...lines, artifact].join('\n'),
    of(name: string): Tried {
      const base = join(dir, String(names.indexOf(name)))
      return {
        code: Number(readFileSync(`${base}.code`, 'utf8')),
        output: readFileSync(`${base}.out`, 'utf8'),
      }
    },
  }
}

/** Makes another loop of the project, and halts it. Returns the halt's id. */
export async function haltedLoop(p: TestProject, name: string): Promise<string> {
  await must(p.call(['create-loop', name, '--from-template', 'backlog']))
  const state = join(p.root, '.automaton', 'loops', name, '.state.loop')
  // What is repaired ends halted.
  rmSync(state)
  await must(p.call(['repair', name]))
  return JSON.parse(readFileSync(state, 'utf8')).halt.id
}

/** State and log of a loop, to be put back or compared. */
export interface Pair {
  state: string
  log: string
}

/** Reads a loop's state and log. */
export function readPair({ loopDir }: { loopDir: string }): Pair {
  const read = (name: string) => readFileSync(join(loopDir, name), 'utf8')
  return { state: read('.state.loop'), log: read('.state.log') }
}

/** Writes a loop's state and log. */
export function writePair({ loopDir }: { loopDir: string }, pair: Pair): void {
  writeFileSync(join(loopDir, '.state.loop'), pair.state)
  writeFileSync(join(loopDir, '.state.log'), pair.log)
}

/** Everything that automaton may have stored in a project, as one text: its folder, but not the worktrees. */
export function storedText(folder: string): string {
  return walk(folder)
    .map((file) => `${file}\n${readFileSync(file, 'utf8')}`)
    .join('\n')
}

/** Every file below a folder, without following links; worktrees are left out. */
export function walk(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'worktree' ? [] : walk(path)
    return entry.isFile() ? [path] : []
  })
}

/** An agent that behaves, for the ticks around an attack. */
export const honest = goodAgent

/** A folder of links to every program on PATH but one; written as a PATH. */
export function pathWithout(program: string, into: string): string {
  const folder = join(into, 'bin')
  mkdirSync(folder)
  for (const from of (process.env.PATH ?? '').split(':').filter((one) => existsSync(one))) {
    for (const name of readdirSync(from)) {
      if (name !== program && !existsSync(join(folder, name))) {
        try {
          symlinkSync(join(from, name), join(folder, name))
        } catch {
          // A dangling link of this name is there.
        }
      }
    }
  }
  return folder
}
