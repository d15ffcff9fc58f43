import { AutomatonError } from '../errors.ts'
import type { Detection } from '../machine/cards.ts'
import { readVramCache, writeVramCache } from '../store/vram-cache.ts'
import type { Deps } from './deps.ts'

/** What a look at this machine's memory needs; without a project nothing is kept. */
export type MemoryDeps = Pick<Deps, 'env' | 'clock' | 'progress' | 'signal'> & {
  project: Deps['project'] | null
}

/** The memory of this machine: the last look, or a new one, with `refresh` always. Never throws for what a probe meets. */
export async function memoryOf(
  deps: MemoryDeps,
  o: { refresh: boolean } = { refresh: false },
): Promise<Detection> {
  const { project, clock } = deps
  const cached = o.refresh || !project ? null : readVramCache(project, clock.now())
  if (cached) return cached
  // Loaded only here: most calls find an earlier look.
  const { detect } = await import('../system/vram/detect.ts')
  const avoid = project ? await writableBySessions(project) : []
  const { env, signal } = deps
  const detection = await detect({ env, avoid, signal, at: clock.iso() })
  if (project) keepLook(deps, project, detection)
  return detection
}

/** A look that cannot be kept costs the next call its time, and nothing else. */
function keepLook({ progress }: MemoryDeps, project: Deps['project'], detection: Detection): void {
  try {
    writeVramCache(project, detection)
  } catch (error) {
    if (!(error instanceof AutomatonError)) throw error
    progress(`the look at this machine's memory was not kept: ${error.message}`)
  }
}

/** The project, and the repository around it: sessions work there, or in worktrees below. */
async function writableBySessions(project: Deps['project']): Promise<string[]> {
  const { findRepository } = await import('../system/repository.ts')
  try {
    const repository = findRepository(project.root)
    return repository ? [project.root, repository.toplevel] : [project.root]
  } catch (error) {
    if (error instanceof AutomatonError) return [project.root]
    throw error
  }
}
