import { basename, join } from 'node:path'
import { readBlobs } from './diff.ts'
import { gitBytes } from './git.ts'
import { splitNames } from './names.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'
import { readSmall } from './small-file.ts'

/**
 * The filters (git-lfs, git-crypt and the like) that the attribute files of a commit, or the repository's own, name: sorted,
 * each once. Automaton runs none of them, since what a filter runs is in a configuration that a session can write.
 */
export async function namedFilters(repo: Repository, commit: string): Promise<string[]> {
  await using own = privateGit({ repo, persist: false })
  const list = await gitBytes(own.place, ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', commit])
  const ids = splitNames(list).flatMap((line) => {
    const [head = '', name = ''] = line.split('\t', 2)
    return head.startsWith('100') && basename(name) === '.gitattributes' ? [head.split(' ')[2] ?? ''] : []
  })
  const texts = (await readBlobs(own.place, ids)).map((blob) => blob?.toString('utf8') ?? '')
  texts.push(readSmall(join(repo.commonDir, 'info', 'attributes')) ?? '')
  return [...new Set(texts.flatMap(filtersIn))].sort()
}

/** The filters that one attribute file names. */
export function filtersIn(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    // The pattern comes first, in quotes where it has spaces.
    const words = line.trim().replace(/^(?:"(?:[^"\\]|\\.)*"|\S+)/, '')
    if (line.trimStart().startsWith('#')) return []
    return [...words.matchAll(/\sfilter=(\S+)/g)].map(([, name = '']) => name)
  })
}
