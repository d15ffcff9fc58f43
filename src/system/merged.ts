import { diffTrees } from './diff.ts'
import { failure, type GitPlace, git, gitText } from './git.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'

/**
 * Whether a base branch has everything that a loop's branch adds: by merge, by squash, or by any other way to the same
 * contents. Compares what the files hold, for after a squash there is no common history. No merge driver runs.
 */
export async function isMerged(options: {
  repo: Repository
  /** The base branch's commit. */
  base: string
  /** The loop branch's commit. */
  tip: string
  /** The commit that the loop's branch started from. */
  mergeBase: string
}): Promise<boolean> {
  const { repo, base, tip, mergeBase } = options
  await using own = privateGit({ repo, persist: false })
  const { place } = own
  const [baseTree, tipTree] = [await treeOf(place, base), await treeOf(place, tip)]
  if (baseTree === tipTree || tipTree === (await treeOf(place, mergeBase))) return true
  if ((await mergedTree(place, base, tip)) === baseTree) return true
  const differs = new Set((await diffTrees(place, tip, base)).map((change) => change.name))
  return (await diffTrees(place, mergeBase, tip)).every((change) => !differs.has(change.name))
}

function treeOf(place: GitPlace, commit: string): Promise<string> {
  return gitText(place, ['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`])
}

/** The tree of a merge that nobody commits; null when it has conflicts, or when there is no common history. */
async function mergedTree(place: GitPlace, base: string, tip: string): Promise<string | null> {
  const common = ['merge-base', '--end-of-options', base, tip]
  const found = await git(place, common)
  if (found.code === 1) return null
  if (found.code !== 0) throw failure(common, found)
  const merge = ['merge-tree', '--write-tree', '--no-messages', '--end-of-options', base, tip]
  const merged = await git(place, merge)
  if (merged.code > 1) throw failure(merge, merged)
  return merged.code === 0 ? merged.stdout.toString('latin1').trim() : null
}
