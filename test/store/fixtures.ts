import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freshState, type LoopState } from '../../src/machine/state.ts'
import { commit, type Entry } from '../../src/store/journal.ts'
import { findProject, type LoopPlaces, loopPlaces, type Project } from '../../src/store/layout.ts'
import { createLoop } from '../../src/store/loops.ts'
import { tempDir } from '../helpers/temp.ts'

/** The hour that tests of the store live in; the minute counts up. */
export const minute = (n: number) => `2026-03-01T10:${String(n).padStart(2, '0')}:00.000Z`

/** An empty project in a temporary folder. */
export function makeStore(): { project: Project; home: string; root: string } & Disposable {
  const dir = tempDir()
  const root = join(dir.path, 'repo')
  const home = join(dir.path, 'home')
  mkdirSync(join(root, '.git'), { recursive: true })
  const project = findProject({ cwd: root, home })
  return { project, home, root, [Symbol.dispose]: () => dir[Symbol.dispose]() }
}

/** A loop with `records` log records, the first of which made it. */
export function makeLoop(project: Project, records = 1): { places: LoopPlaces; state: LoopState } {
  const places = loopPlaces(project, 'nightly')
  let state = createLoop(project, { config: '{}\n', state: freshState('nightly', minute(0)), by: 'human' })
  for (let n = 2; n <= records; n++) state = work(places, state)
  return { places, state }
}

/** Commits one more worked tick. */
export function work(places: LoopPlaces, state: LoopState, entry: Partial<Entry> = {}): LoopState {
  const next = { ...state, iteration_count: state.iteration_count + 1, next_hint: `hint ${state.seq}` }
  const at = minute(state.seq + 1)
  return commit(places, state, next, {
    type: 'tick',
    run: `run-${state.seq}`,
    by: 'tick',
    data: {},
    at,
    ...entry,
  })
}
