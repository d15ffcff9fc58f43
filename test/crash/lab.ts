import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { binary, callEnv } from '../helpers/cli.ts'
import { type Before, lookBefore, type Scene } from '../helpers/invariants.ts'
import { makeProject, must, type TestProject } from '../helpers/project.ts'

const agent = join(import.meta.dir, '..', 'fixtures', 'bin', 'marking-agent')

/** A project whose ticks are cheap: no sessions but implement, one line of work, endless implement and review. */
export interface Lab extends Disposable {
  project: TestProject
  scene: Scene
  env: Record<string, string>
  /** How things stood at the last `save`. */
  before: Before
  /** What `run` starts; a tick, unless somebody sets another verb. */
  command: string[]
  /** Makes the present state the one that `restore` returns to; `look: false` leaves `before` as it is. */
  save(how?: { look: boolean }): void
  /** Puts every file back to where it was at the last `save`. */
  restore(): void
  /** Starts a tick. */
  start(): Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  /** Runs one tick to its end, or for 20 s. */
  tick(): Promise<Ran>
  /** Runs `command` to its end, or for 20 s; `prefix` is a program that runs it, with its arguments. */
  run(prefix?: string[], env?: Record<string, string>): Promise<Ran>
}

/** How a call in the lab ended. */
export interface Ran {
  code: number | null
  output: string
  hung: boolean
}

/** What a lab's tick starts from. */
export const beginnings = ['first', 'later', 'recovering'] as const
export type Beginning = (typeof beginnings)[number]

/** A lab whose next tick is its first, one like most, or one that finds what a killed tick left. */
export async function labBefore(beginning: Beginning): Promise<Lab> {
  const lab = await makeLab(beginning === 'first' ? 0 : 1)
  if (beginning !== 'recovering') return lab
  const seen = marksOf(lab)
  const child = lab.start()
  while (marksOf(lab) === seen && child.exitCode === null) await Bun.sleep(2)
  child.kill('SIGKILL')
  await child.exited
  lab.save()
  return lab
}

function marksOf({ scene }: Lab): number {
  return scene.marks && existsSync(scene.marks) ? readFileSync(scene.marks, 'utf8').length : 0
}

/** Makes the project, and ticks it that many times. */
export async function makeLab(
  ticks: number,
  loop: Record<string, Record<string, unknown>> = {},
): Promise<Lab> {
  const project = await makeProject()
  const dir = join(project.root, '..')
  const marks = join(dir, 'scenario', 'marks')
  project.configure({
    harness: { command: [agent, marks] },
    roles: { orchestrate: { prompt: 'loop-orchestrate.md', tier: 16_000, model: null, mode: 'rules' } },
    verifiers: [{ use: 'command', options: { commands: ['true'] } }],
    brakes: { max_iterations: 1_000_000, max_consecutive_errors: 1000, score_plateau_window: 0 },
    // The agent notes its marks outside of the worktree.
    blast_radius: { sandbox: 'off' },
    ...loop,
  })
  const { root, loopDir, worktree } = project
  const scene: Scene = { root, loop: project.loop, loopDir, worktree, marks }
  const env = callEnv({ cwd: root, home: project.home })
  env.TMPDIR = join(dir, 'scenario')
  const kept = join(dir, 'kept')
  const parts = ['repo', 'scenario']
  const tick = ['tick', project.loop, '--json']
  const spawn = (args: string[], prefix: string[], extra: Record<string, string>) =>
    Bun.spawn([...prefix, binary, ...args], {
      cwd: root,
      env: { ...env, ...extra },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      detached: true,
    })
  const lab: Lab = {
    project,
    scene,
    env,
    before: { iterations: 0, records: 0, theirs: {} },
    command: tick,
    save({ look } = { look: true }) {
      if (look) lab.before = lookBefore(scene)
      for (const part of parts) copy(join(dir, part), join(kept, part))
    },
    restore() {
      for (const part of parts) copy(join(kept, part), join(dir, part))
    },
    start: () => spawn(tick, [], {}),
    tick: () => ended(spawn(tick, [], {})),
    run: (prefix = [], extra = {}) => ended(spawn(lab.command, prefix, extra)),
    [Symbol.dispose]: () => project[Symbol.dispose](),
  }
  for (let n = 0; n < ticks; n++) await must(project.tick())
  lab.save()
  return lab
}

async function ended(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>): Promise<Ran> {
  // The whole group: a tracer that is killed alone lets go of the tick, which would hang on.
  let hung = false
  const limit = setTimeout(() => {
    hung = true
    process.kill(-child.pid, 'SIGKILL')
  }, 20_000)
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  clearTimeout(limit)
  return { code: child.exitCode, output: `${stdout}${stderr}`, hung }
}

function copy(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
}
