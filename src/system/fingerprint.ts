import { lstatSync, readlinkSync } from 'node:fs'
import { fileDigest, readable } from './digest.ts'

/** What a file is and holds, a link also where it leads; empty when it is not there. */
export function fingerprint(file: string): string {
  return readable(() => {
    const stat = lstatSync(file, { throwIfNoEntry: false })
    if (!stat) return ''
    if (stat.isDirectory()) return 'folder'
    const target = stat.isSymbolicLink() ? readlinkSync(file) : ''
    return `${stat.mode.toString(8)} ${target} ${fileDigest(file)}`
  }).replace(/^unreadable ENOTDIR$/, '')
}

/** The names that have another value in the second record, or are in one of them alone. */
export function changedKeys(before: Record<string, string>, after: Record<string, string>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => before[key] !== after[key],
  )
}
