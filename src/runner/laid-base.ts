import { errors } from '../errors.ts'
import { isProtected, matchesGlob } from '../machine/scope.ts'
import { layBase } from '../system/lay-base.ts'
import { snapshot } from '../system/snapshot.ts'
import { restoreWorktree } from '../system/worktree.ts'
import type { Scene, Site } from './scene.ts'
import type { Made } from './steps/implement.ts'

/**
 * The base commit's version of protected files over the session's work, while programs check it: an agent must not have
 * a say in what it is checked by. What the programs change goes as well, so that it never reaches a commit.
 */
export class LaidBase {
  /** The tree that the worktree holds, as far as automaton put it there. */
  #tree: string | null
  #globs = ''

  constructor(
    private readonly scene: Scene,
    private readonly site: Site,
    private readonly made: Made,
  ) {
    this.#tree = made.tree
  }

  /** False where sessions work in a person's checkout, or without git: those files are not ours to put back. */
  get isPossible(): boolean {
    return this.#ground() !== null
  }

  /** Lays the protected files of the base, and those that a glob names. Throws `bad_config` for globs without a worktree. */
  async lay(globs: readonly string[]): Promise<void> {
    const ground = this.#ground()
    if (!ground) {
      if (globs.length === 0) return
      const file = this.scene.places.config
      throw errors.badConfig(file, 'verifiers', 'files from the base commit', 'none without a worktree')
    }
    const wanted = `:${globs.join('\n')}`
    if (this.#globs === wanted) return
    await this.away()
    const { prefix } = ground.repo
    const covers = (path: string) =>
      isProtected(path) ||
      (path.startsWith(prefix) && matchesGlob(path.slice(prefix.length), globs)) ||
      globs.includes('**')
    this.#tree = await layBase({ ...ground, covers })
    this.#globs = wanted
  }

  /** Puts the worktree back to the session's work. */
  async away(): Promise<void> {
    const ground = this.#ground()
    if (!ground) return
    const { repo, worktree, tree, commit } = ground
    await using now = await snapshot({ repo, worktree, persist: false })
    if (now.tree !== this.#tree) {
      this.scene.warnings.push('the verifier changed files in the worktree; they were put back')
    }
    if (now.tree !== tree || this.#tree !== tree) await restoreWorktree({ repo, worktree, commit })
    this.#tree = tree
    this.#globs = ''
  }

  #ground() {
    const { repo } = this.scene
    const { tree, result } = this.made
    const { kind, root, base } = this.site
    if (!repo || kind !== 'worktree' || tree === null || result === null || base === null) return null
    return { repo, worktree: root, tree, commit: result, base }
  }
}
