import { existsSync } from 'node:fs'
import type { LoopConfig } from '../machine/config.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { realDestination } from '../system/real-path.ts'
import type { Repository } from '../system/repository.ts'
import { hidingIn } from '../system/sandbox/ground.ts'
import { hidingNote, landlockHole, policyNotes } from '../system/sandbox/notes.ts'
import type { SandboxPolicy } from '../system/sandbox/policy.ts'
import type { SandboxChoice } from '../system/sandbox/tier.ts'
import { policyOf } from './containment.ts'
import type { Deps } from './deps.ts'
import { adapterWrites } from './distrust.ts'

/** Something that a loop's sandbox leaves open, or does not open although it was asked to. */
export interface Hole {
  /** A sentence without its period. */
  what: string
  fix: string
}

/** A loop whose sandbox is looked into, and that sandbox. */
export interface HoleSearch {
  choice: SandboxChoice
  config: LoopConfig
  places: LoopPlaces
  repo: Repository | null
  deps: Deps
}

/** What a person should know of a loop's sandbox before a session is in it. Without one there is nothing to tell. Reads only. */
export async function sandboxHoles({ choice, config, places, repo, deps }: HoleSearch): Promise<Hole[]> {
  if (choice.tier === 'T0') return []
  const { root } = deps.project
  const isOwn = config.blast_radius.worktree
  const folder = isOwn ? places.worktree : (repo?.toplevel ?? root)
  const policy = policyOf({
    scene: { deps, places, repo, config, run: 'none' },
    site: { kind: isOwn ? 'worktree' : 'primary', root: folder, cwd: isOwn ? folder : root },
    writes: await adapterWrites(config, deps),
    path: deps.env.PATH,
  })
  const fix = `edit harness.writes in ${places.config}`
  const open = openBrakes(choice, config, deps)
  return [
    ...(open ? [open] : []),
    ...policyNotes(policy).map((what) => ({ what, fix })),
    ...(choice.kind === 'landlock' ? landlockHoles(policy) : []),
  ]
}

/** The brakes, where the sandbox cannot keep sessions from them; else null. */
export function openBrakes(
  { kind }: Pick<SandboxChoice, 'kind'>,
  config: LoopConfig,
  { project }: Pick<Deps, 'project'>,
): Hole | null {
  if (kind !== 'landlock' || config.blast_radius.worktree) return null
  return {
    what: `Landlock cannot protect ${project.automaton}, nor git's folder, from sessions that work in your checkout; changes are noticed after the session`,
    fix: 'install bubblewrap, or use a worktree (blast_radius.worktree in loop.json)',
  }
}

function landlockHoles({ programs, hidden, makes }: SandboxPolicy): Hole[] {
  const hides = hidden.map(realDestination).filter((path) => existsSync(path))
  const rules = hides.map((path) => ({ path, access: 'hide', kind: 'folder' }) as const)
  return [
    ...programs.map((path) => landlockHole({ path, access: 'read' }, programs)),
    ...hidingIn(rules, makes).map(hidingNote),
  ].map((what) => ({ what, fix: 'install bubblewrap' }))
}
