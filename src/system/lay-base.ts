import { checkoutPlace } from './checkout.ts'
import { diffTrees } from './diff.ts'
import { gitBytes, gitText } from './git.ts'
import { joinNames, showName } from './names.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'
import { putBack } from './restore.ts'

const gone = '000000'

/**
 * Puts some files of a worktree to what they are in another commit: changed ones, those that are missing, and those that
 * are too many. `covers` is asked with each differing path. Returns the tree that the worktree holds then; the worktree
 * has to hold `tree` before, and its branch does not move.
 */
export async function layBase(o: {
  repo: Repository
  worktree: string
  /** What the worktree holds. */
  tree: string
  /** Commit or tree id. */
  base: string
  covers(path: string): boolean
}): Promise<string> {
  const { repo, worktree, tree, base, covers } = o
  const mixed = await mixTrees()
  if (mixed === tree) return tree
  const { gitDir } = checkoutPlace(repo, worktree)
  await putBack({ repo, worktree, gitDir, commit: mixed })
  return mixed

  async function mixTrees(): Promise<string> {
    await using own = privateGit({ repo, persist: true })
    const differing = await diffTrees(own.place, tree, base)
    const lines = differing
      .filter(({ name }) => covers(showName(name)))
      .map(({ name, newMode, newId }) => `${newMode === gone ? '0' : newMode} ${newId}\t${name}`)
    if (lines.length === 0) return tree
    await gitBytes(own.place, ['read-tree', '--end-of-options', tree])
    await gitBytes(own.place, ['update-index', '--add', '--replace', '-z', '--index-info'], {
      stdin: joinNames(lines),
    })
    return await gitText(own.place, ['write-tree'])
  }
}
