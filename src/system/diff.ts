import type { GitPlace } from './git.ts'
import { gitBytes } from './git.ts'
import { splitNames } from './names.ts'

/** One line of a raw diff; the name has one character a byte. */
export interface RawChange {
  name: string
  oldMode: string
  newMode: string
  oldId: string
  newId: string
}

/** A raw diff that shows both sides of a rename, submodule moves whatever `.gitmodules` says, and names as they are. */
export const rawDiff = [
  '-r',
  '-z',
  '--raw',
  '--no-abbrev',
  '--no-renames',
  '--no-relative',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
]

/** What differs between two commits or trees. */
export async function diffTrees(place: GitPlace, from: string, to: string): Promise<RawChange[]> {
  return parseRaw(await gitBytes(place, ['diff-tree', ...rawDiff, '--end-of-options', from, to]))
}

/** Reads the output of {@link rawDiff}: records of `:modes ids status`, each followed by its name. */
export function parseRaw(output: Buffer): RawChange[] {
  const fields = splitNames(output)
  const changes: RawChange[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = '', newMode = '', oldId = '', newId = ''] = (fields[at] ?? '')
      .replace(/^:/, '')
      .split(' ')
    changes.push({ name: fields[at + 1] ?? '', oldMode, newMode, oldId, newId })
  }
  return changes
}

/** The contents of objects, in order; for the small ones, such as the targets of symbolic links. */
export async function readBlobs(place: GitPlace, ids: string[]): Promise<Buffer[]> {
  if (ids.length === 0) return []
  const output = await gitBytes(place, ['cat-file', '--batch'], {
    stdin: ids.map((id) => `${id}\n`).join(''),
  })
  const blobs: Buffer[] = []
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at)
    const size = Number(output.toString('latin1', at, end).split(' ')[2])
    if (!Number.isInteger(size)) throw new Error(`no such object: ${output.toString('latin1', at, end)}`)
    blobs.push(output.subarray(end + 1, end + 1 + size))
    at = end + 1 + size + 1
  }
  return blobs
}
