import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder, removeStaleTemps } from './atomic.ts'
import { type LoopPlaces, type Project, taskPlaces } from './layout.ts'
import { acquire } from './lock.ts'
import { foldersIn } from './loops.ts'

/**
 * Removes what writers that were killed left half written: in the loop's folder, whose lock the caller holds, and in
 * the tasks' folders, unless somebody changes a task just now.
 */
export async function sweepTemps(project: Project, places: LoopPlaces): Promise<void> {
  for (const folder of [places.dir, places.outputs]) {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) removeStaleTemps(folder)
  }
  const names = foldersIn(project.tasks)
  if (names.length === 0) return
  ensureFolder(project.cache)
  const lock = await acquire(join(project.cache, 'tasks.lock'), { waitMs: 0, folder: false })
  if (lock.busy) return
  using _held = lock
  for (const name of names) removeStaleTemps(taskPlaces(project, name).dir)
}
