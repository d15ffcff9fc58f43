import { delimiter, dirname, isAbsolute, sep } from 'node:path'
import { which } from './process.ts'
import { realDestination } from './real-path.ts'

/** Folders that sessions can write. A process serves one loop, or one person, so that it is never taken back. */
let distrusted: readonly string[] = []

/** Has automaton run no program of its own out of these folders, or out of what lies in them, whatever PATH says. */
export function distrust(folders: readonly string[]): void {
  const news = folders.filter((folder) => !distrusted.includes(folder))
  if (news.length === 0) return
  distrusted = [...distrusted, ...news]
  found.clear()
}

/** A tick calls git dozens of times. */
const found = new Map<string, string | null>()

/**
 * The file of a program that automaton runs for itself, such as git: the first in an absolute folder of `path` that no
 * session can have put there. Null when there is none.
 */
export function ownProgram(name: string, path: string): string | null {
  const key = `${name} ${path}`
  const known = found.get(key)
  if (known !== undefined) return known
  const files = path.split(delimiter).map((folder) => (isAbsolute(folder) ? which(name, folder) : null))
  const file = files.find((file) => file !== null && ![dirname(file), file].some(isDistrusted)) ?? null
  found.set(key, file)
  return file
}

function isDistrusted(path: string): boolean {
  return distrusted.length > 0 && isInside(path, distrusted)
}

/** Whether a path is one of these folders or lies in one, links resolved. The root folder holds nothing in this sense. */
export function isInside(path: string, folders: readonly string[]): boolean {
  const real = realDestination(path)
  return folders.some((folder) => {
    const root = realDestination(folder)
    return dirname(root) !== root && (real === root || real.startsWith(root + sep))
  })
}
