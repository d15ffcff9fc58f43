import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Death } from '../../src/api/hooks.ts'
import { haltLoop } from '../../src/machine/loop.ts'
import type { LoopState } from '../../src/machine/state.ts'
import { commit, load } from '../../src/store/journal.ts'
import { findProject, type LoopPlaces, loopPlaces, type Project } from '../../src/store/layout.ts'
import { automaton, type Call, type CallOptions } from '../helpers/cli.ts'
import { type Files, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

/** A repository with its own HOME, and the binary run in it. */
export interface Scratch extends Disposable {
  root: string
  home: string
  project: Project
  places(loop: string): LoopPlaces
  state(loop: string): LoopState
  run(...args: string[]): Promise<Call>
  call(args: string[], options?: Partial<CallOptions>): Promise<Call>
}

/** `files: null` makes a folder without git. */
export function scratch(files: Files | null = { 'README.md': '# x\n' }): Scratch {
  const dir = tempDir()
  const root = join(dir.path, 'work')
  const home = join(dir.path, 'home')
  mkdirSync(root)
  // Whatever memory the machine of this test has must not decide how it ends.
  writeFiles(home, { '.automaton/config.md': 'backend: remote\n' })
  if (files) makeRepo(root, files)
  const project = findProject({ cwd: root, home: join(home, '.automaton'), flag: root })
  const places = (loop: string) => loopPlaces(project, loop)
  const call = (args: string[], options: Partial<CallOptions> = {}) =>
    automaton(args, { cwd: root, home, ...options })
  return {
    root,
    home,
    project,
    places,
    call,
    run: (...args) => call(args),
    state(loop) {
      const loaded = load(places(loop))
      if (loaded.kind === 'untracked') throw new Error(`${loop} has no state`)
      return loaded.state
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  }
}

/** A scratch repository with one loop. */
export async function withLoop(loop = 'nightly', ...options: string[]): Promise<Scratch> {
  const s = scratch()
  const made = await s.run('create-loop', loop, '--from-template', 'backlog', ...options)
  if (made.code !== 0) throw new Error(made.stderr)
  return s
}

/** Halts a loop as a tick would; returns the halt's id. */
export function halt(
  s: Scratch,
  loop: string,
  o: { reason: Death; detail?: string; files?: string[] },
): string {
  const at = new Date().toISOString()
  const record = { id: 'bafugemo', reason: o.reason, detail: o.detail ?? '', files: o.files ?? [], at }
  const state = s.state(loop)
  commit(s.places(loop), state, haltLoop(state, record), {
    type: 'halt',
    run: null,
    by: 'gate',
    at,
    data: record,
  })
  return record.id
}

/** Makes a task of that name. */
export async function makeTask(s: Scratch, task: string, ...options: string[]): Promise<void> {
  const made = await s.call(['create-task', task, '--brief', '-', ...options], { stdin: 'do it\n' })
  if (made.code !== 0) throw new Error(made.stderr)
}
