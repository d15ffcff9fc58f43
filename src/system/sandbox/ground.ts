import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { depth, isWithin } from './paths.ts'
import type { SandboxPolicy } from './policy.ts'

/** What holds for a path and all below it, down to the next rule. */
export interface Rule {
  /** Absolute and free of links. */
  path: string
  access: 'write' | 'read' | 'hide'
  /** `missing`: a brake that nobody may bring into being in a folder that the session may write. */
  kind: 'folder' | 'file' | 'missing'
}

/** A policy as it lies on this disk: links resolved, what does not exist left out, folders before what they hold. */
export interface Ground {
  cwd: string
  tmp: string
  rules: Rule[]
  visible: string[]
}

/** Makes the harness's missing folders and looks up all others. Throws when a folder cannot be made. */
export function groundOf(policy: SandboxPolicy): Ground {
  for (const folder of policy.makes) mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A link may have come there since the policy was drawn.
  const makes = policy.makes.filter((path) => real(path) === path)
  const rules = new Map<string, Rule>()
  // Of the same path the last one stays.
  for (const path of policy.hidden) add(rules, path, 'hide')
  for (const path of makes) add(rules, path, 'write')
  for (const path of policy.writable) if (!policy.makes.includes(path)) add(rules, path, 'write')
  for (const path of policy.programs.filter(isMade)) add(rules, path, 'read')
  for (const path of policy.readOnly) add(rules, path, 'read')
  const sorted = [...rules.values()].sort((a, b) => depth(a.path) - depth(b.path))
  return {
    cwd: real(policy.cwd),
    tmp: join(real(dirname(policy.tmp)), basename(policy.tmp)),
    rules: sorted.filter(
      (rule) => rule.kind !== 'missing' || accessTo(sorted, dirname(rule.path)) === 'write',
    ),
    visible: policy.visible.map(real),
  }
}

/** What the rules say of a path. */
export function accessTo(rules: readonly Rule[], path: string): Rule['access'] {
  const holders = rules.filter((rule) => isWithin(path, rule.path))
  return holders.sort((a, b) => depth(b.path) - depth(a.path))[0]?.access ?? 'read'
}

/** What is protected inside of a folder that may be written: Landlock, which only knows grants, cannot hold it. */
export function holesIn(rules: readonly Rule[]): Rule[] {
  const inside = rules.filter((rule) => accessTo(rules, dirname(rule.path)) === 'write')
  return inside.filter(({ access, kind }) => access === 'hide' || (access === 'read' && kind !== 'file'))
}

/**
 * The folders between one that may be written and what is protected in it. Whoever moves one of them away moves what is
 * protected with it, out of the place that is watched over; so each has to be kept where it is.
 */
export function anchorsOf(rules: readonly Rule[]): string[] {
  const held = rules.filter(({ access, kind }) => access !== 'write' && kind !== 'missing')
  const between = held.flatMap(({ path }) => {
    const found: string[] = []
    for (let folder = dirname(path); !rules.some((rule) => rule.path === folder); folder = dirname(folder)) {
      if (accessTo(rules, folder) !== 'write') break
      found.push(folder)
    }
    return found
  })
  return [...new Set(between)].sort((a, b) => depth(a) - depth(b))
}

/** The harness's folders in which something is hidden, and what. */
export function hidingIn(
  rules: readonly Rule[],
  makes: readonly string[],
): { folder: string; hidden: string }[] {
  const hides = rules.filter((rule) => rule.access === 'hide')
  return makes.flatMap((folder) => {
    const hidden = hides.find(({ path }) => path !== folder && isWithin(path, folder))
    return hidden ? [{ folder, hidden: hidden.path }] : []
  })
}

/** True for a folder that is there, or can be made, without a link on the way. */
function isMade(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return real(folder) === folder && lstatSync(folder).isDirectory()
  } catch {
    return false
  }
}

function add(rules: Map<string, Rule>, named: string, access: Rule['access']): void {
  const path = real(named)
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found) rules.set(path, { path, access, kind: found.isDirectory() ? 'folder' : 'file' })
  else if (access === 'read') rules.set(path, { path, access, kind: 'missing' })
}

/** The path without links, as far as it exists. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(real(dirname(path)), basename(path))
  }
}
