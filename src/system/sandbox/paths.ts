import { sep } from 'node:path'

/** True for the folder itself and everything below it; both paths absolute and normal. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** How many names a path has: a folder comes before what it holds. */
export function depth(path: string): number {
  return path.split(sep).filter(Boolean).length
}
