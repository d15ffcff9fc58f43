import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { binary, callEnv } from '../helpers/cli.ts'
import { makeProject, type ProjectOptions, type TestProject } from '../helpers/project.ts'

/** The fixtures' agents. */
export type Agent = 'lone-agent' | 'waiting-agent'

/** A project whose ticks are cheap and whose implement sessions are an agent of the fixtures. */
export interface CheapLoop extends Disposable {
  p: TestProject
  /** What the agent was given. */
  folder: string
  /** The lines of a file in it. */
  lines(name: string): string[]
}

/** Makes one. `options` go to `makeProject` and win. */
export async function cheapLoop(agent: Agent, options: ProjectOptions = {}): Promise<CheapLoop> {
  const p = await makeProject(options)
  const folder = join(p.home, '..', 'agent')
  mkdirSync(folder)
  p.configure({
    harness: { command: [join(import.meta.dir, '..', 'fixtures', 'bin', agent), folder] },
    roles: { orchestrate: { prompt: 'loop-orchestrate.md', tier: 16_000, model: null, mode: 'rules' } },
    verifiers: [{ use: 'command', options: { commands: ['true'] } }],
    brakes: { max_iterations: 1_000_000, score_plateau_window: 0 },
    // The fixtures' agents note outside of the worktree what they did.
    blast_radius: { sandbox: 'off' },
    ...options.loop,
  })
  return {
    p,
    folder,
    lines(name) {
      const file = join(folder, name)
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
    },
    [Symbol.dispose]: () => p[Symbol.dispose](),
  }
}

/** Starts automaton, as `automaton()` of the helpers does, without waiting for it. */
export function start(p: TestProject, ...args: string[]): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
  return Bun.spawn([binary, ...args], {
    cwd: p.root,
    env: callEnv({ cwd: p.root, home: p.home }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Waits for something that another process brings about. */
export async function until(condition: () => boolean, what: string, seconds = 30): Promise<void> {
  const limit = Date.now() + seconds * 1000
  while (!condition()) {
    if (Date.now() > limit) throw new Error(`it did not happen in time: ${what}`)
    await Bun.sleep(5)
  }
}
