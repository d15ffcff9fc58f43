import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { failure, type GitPlace, git, gitBytes } from './git.ts'
import { joinNames, splitNames } from './names.ts'

const add = ['update-index', '--add', '--replace', '--remove', '-z', '--stdin']
/** After this many tries the files that are left are taken as they are. */
const most = 200

/**
 * Makes a private index hold what lies at these names. A file that is not in the encoding that an attribute claims for it,
 * at which git gives up, is taken byte for byte; the others are converted as ever, or they would all look changed.
 */
export async function takeFiles(place: GitPlace, files: ReadonlySet<string>): Promise<void> {
  const result = await git(place, add, { stdin: joinNames(files) })
  if (result.code === 0) return
  const encoded = await withEncoding(place, files)
  if (encoded.length === 0) throw failure(add, result)
  const claimed = new Set(encoded)
  await gitBytes(place, add, { stdin: joinNames([...files].filter((name) => !claimed.has(name))) })
  const wrong = await refused(place, encoded)
  const attributes = join(place.gitDir, 'info', 'attributes')
  // Only for this call: what is written into the working tree later is converted as it should be.
  writeFileSync(attributes, '* !working-tree-encoding\n')
  try {
    await gitBytes(place, add, { stdin: joinNames(wrong) })
  } finally {
    rmSync(attributes, { force: true })
  }
}

async function withEncoding(place: GitPlace, files: Iterable<string>): Promise<string[]> {
  const args = ['check-attr', '-z', '--stdin', 'working-tree-encoding']
  const fields = splitNames(await gitBytes(place, args, { stdin: joinNames(files) }))
  return fields.filter((_, at) => at % 3 === 0 && !/^(un)?(set|specified)$/.test(fields[at + 2] ?? ''))
}

/** Those that git gives up at, found by halves; the others are in the index then. */
async function refused(place: GitPlace, names: readonly string[], calls = { left: most }): Promise<string[]> {
  if (names.length === 0) return []
  const isOver = calls.left-- <= 0
  if (!isOver && (await git(place, add, { stdin: joinNames(names) })).code === 0) return []
  if (isOver || names.length === 1) return [...names]
  const middle = names.length >> 1
  const first = await refused(place, names.slice(0, middle), calls)
  return [...first, ...(await refused(place, names.slice(middle), calls))]
}
