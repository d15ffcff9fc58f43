import { lstatSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { headOf } from './checkout.ts'
import { copyIndex } from './checkout-index.ts'
import { sha256 } from './digest.ts'
import { gitBytes, together } from './git.ts'
import { nameBytes, pathBytes, showName, splitNames } from './names.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'

/** What the files of a person's checkout that differ from its last commit hold, by name. */
export type PrimaryRecord = Record<string, string>

/** Larger files are known by their size and times. */
const largestRead = 1 << 20

/**
 * Writes down the uncommitted files of the person's checkout. Quick: a file whose size and times are those in the index
 * is not read. `.automaton/` is left out. With an earlier record its files are written down again, changed or not, so
 * that a commit in between does not look like a change.
 */
export async function primaryRecord(repo: Repository, earlier: PrimaryRecord = {}): Promise<PrimaryRecord> {
  const ours = `${repo.prefix}.automaton/`
  await using own = privateGit({
    repo,
    workTree: repo.toplevel,
    persist: false,
    exclude: ['.automaton/loops/'],
  })
  const { commit } = headOf(repo, repo.toplevel)
  if (commit) writeFileSync(join(own.dir, 'HEAD'), `${commit}\n`)
  const index = copyIndex({ repo, worktree: repo.toplevel, into: own.dir })
  const place = index ? { ...own.place, index } : own.place
  const flags = ['--no-renames', '--untracked-files=all', '--ignore-submodules=dirty', '--no-ahead-behind']
  const [differing, indexed] = await together([
    gitBytes(place, ['status', '--porcelain=v2', '-z', ...flags]),
    gitBytes(place, ['ls-files', '-v', '-z']),
  ])
  const status = splitNames(differing)
  // Files that git was told not to look at: small letters and S are such flags.
  const flagged = splitNames(indexed).filter((line) => /^[a-zS] /.test(line))
  const hidden = flagged
    .map((line) => line.slice(2))
    .filter((name) => contentOf(repo.toplevel, name) !== 'absent')
  const before = Object.keys(earlier).map((name) => nameBytes(name).toString('latin1'))
  const files = [...status.map(nameIn), ...hidden, ...before].filter((name) => name && !name.startsWith(ours))
  return Object.fromEntries(
    [...new Set(files)].sort().map((name) => [showName(name), contentOf(repo.toplevel, name)]),
  )
}

/** The names of files that hold something else in the second record, sorted. */
export function changedPrimary(before: PrimaryRecord, after: PrimaryRecord): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => before[name] !== after[name]).sort()
}

/** The name in a line of `status --porcelain=v2`; each kind has its own number of fields before it. */
function nameIn(line: string): string {
  const fields = { '1': 8, u: 10, '?': 1, '!': 1 }[line[0] ?? '']
  return fields === undefined ? '' : line.split(' ').slice(fields).join(' ')
}

function contentOf(toplevel: string, name: string): string {
  const file = pathBytes(toplevel, name.replace(/\/$/, ''))
  try {
    const stat = lstatSync(file)
    if (stat.isSymbolicLink()) return `link ${sha256(readlinkSync(file, { encoding: 'buffer' }))}`
    if (!stat.isFile()) return stat.isDirectory() ? 'folder' : 'special'
    const mode = stat.mode & 0o100 ? 'program' : 'file'
    if (stat.size > largestRead) return `${mode} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
    return `${mode} ${sha256(readFileSync(file))}`
  } catch {
    return 'absent'
  }
}
