import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readable } from './digest.ts'
import { gitText } from './git.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'
import { readSmall } from './small-file.ts'

/** Where the history of a shallow clone ends: the first digits of its commits' ids, or that this is no plain file. */
export function shallowCuts(repo: Repository): string {
  const file = join(repo.commonDir, 'shallow')
  const text = readSmall(file)
  if (text !== null) return idsIn(text).map(short).join(' ')
  return readable(() => (lstatSync(file, { throwIfNoEntry: false }) ? 'special' : ''))
}

/**
 * Whether history that is there was cut off meanwhile. What `git fetch` cuts off in a shallow clone was never there, and
 * a cut that is gone (`git fetch --unshallow`, `git gc`) hides nothing. Throws `git_failed`.
 */
export async function isHistoryCut(before: string, after: string, repo: Repository): Promise<boolean> {
  if (before === after || after === '') return false
  if (/^(special|unreadable)/.test(after)) return true
  const known = new Set(before.split(' '))
  const added = idsIn(readSmall(join(repo.commonDir, 'shallow')) ?? '').filter((id) => !known.has(short(id)))
  await using own = privateGit({ repo, persist: false })
  rmSync(join(own.dir, 'shallow'), { force: true })
  const list = async (args: string[], ids: string[]) => {
    const output = await gitText(
      own.place,
      ['rev-list', '--no-walk=unsorted', '--ignore-missing', ...args, '--stdin'],
      {
        stdin: `${ids.join('\n')}\n`,
      },
    )
    return output.split('\n').filter(Boolean)
  }
  if (added.length === 0) return false
  const parents = (await list(['--parents'], added)).map((line) => line.split(' ').slice(1))
  const present = new Set(await list([], [...new Set(parents.flat())]))
  return parents.some((ids) => ids.length > 0 && ids.every((id) => present.has(id)))
}

function idsIn(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => /^[0-9a-f]{40,64}$/.test(line))
    .sort()
}

function short(id: string): string {
  return id.slice(0, 12)
}
