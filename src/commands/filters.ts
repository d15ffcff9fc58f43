import { AutomatonError } from '../errors.ts'
import { namedFilters } from '../system/filters.ts'
import { resolveCommit } from '../system/git.ts'
import type { Repository } from '../system/repository.ts'

/** The filters that the repository's attribute files name; none where git cannot say. */
export async function findFilters(repo: Repository): Promise<string[]> {
  try {
    const head = await resolveCommit(repo, 'HEAD')
    return head ? await namedFilters(repo, head) : []
  } catch (error) {
    if (error instanceof AutomatonError) return []
    throw error
  }
}

/** What filters mean for the loops of a project. */
export function filterWords(filters: readonly string[]): string {
  const named = filters.length === 1 ? 'the filter' : 'the filters'
  return `.gitattributes names ${named} ${filters.join(', ')}, and automaton runs none: in a loop's worktree such files are as git stores them (pointers of git-lfs, what git-crypt encrypted), and are committed as a session leaves them`
}
