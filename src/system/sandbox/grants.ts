import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { accessTo, type Ground, type Rule } from './ground.ts'
import { isWithin } from './paths.ts'

/** A path that Landlock opens, with all below it. */
export interface Grant {
  path: string
  access: 'read' | 'write' | 'device'
}

/**
 * A ground as Landlock can hold it, which knows only grants: reading is granted for every neighbour of a hidden path,
 * so names in hidden folders can still be listed, and what is created next to them later cannot be read.
 */
export function landlockGrants({ rules, tmp }: Ground): Grant[] {
  const writes = rules.filter((rule) => rule.access === 'write').map((rule) => rule.path)
  return [
    ...readable('/', rules).map((path) => ({ path, access: 'read' as const })),
    ...[...writes, tmp, '/dev/shm'].map((path) => ({ path, access: 'write' as const })),
    ...devices.map((path) => ({ path, access: 'device' as const })),
  ]
}

/** What every program expects to be able to write. */
const devices = [
  ...[
    '/dev/null',
    '/dev/zero',
    '/dev/full',
    '/dev/random',
    '/dev/urandom',
    '/dev/tty',
    '/dev/ptmx',
    '/dev/pts',
  ],
]

/** The largest folders and files that hold nothing hidden. Links are left out: what they mean has its own path. */
function readable(folder: string, rules: readonly Rule[]): string[] {
  const below = rules.filter((rule) => isWithin(rule.path, folder) && rule.path !== folder)
  const open = accessTo(rules, folder) !== 'hide'
  if (open && !below.some((rule) => rule.access === 'hide')) return [folder]
  // In a hidden folder only what a rule opens again can be read.
  if (!open) {
    const opened = below.filter((rule) => rule.access !== 'hide').map((rule) => rule.path)
    return opened.filter((path) => !opened.some((other) => other !== path && isWithin(path, other)))
  }
  return entries(folder).flatMap((path) => readable(path, rules))
}

function entries(folder: string): string[] {
  try {
    const found = readdirSync(folder, { withFileTypes: true })
    return found.filter((entry) => !entry.isSymbolicLink()).map((entry) => join(folder, entry.name))
  } catch {
    // Whoever cannot list a folder is not given what it holds either.
    return []
  }
}
