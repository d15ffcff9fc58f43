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
  const rules = new Map<string, Rule>()
  const own = policy.writable.filter((path) => !policy.makes.includes(path))
  // Of the same path the last one stays.
  for (const path of policy.hidden) add(rules, path, 'hide')
  for (const path of policy.makes) add(rules, path, 'write')
  for (const path of own) add(rules, path, 'write')
  for (const path of policy.readOnly) add(rules, path, 'read')
  const brakes = new Set(policy.readOnly.map(real))
  for (const path of policy.makes.map(real)) if (isUnderBrake(path, brakes, own.map(real))) rules.delete(path)
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

/** Folders that are protected inside of one that may be written: Landlock, which only knows grants, cannot hold these. */
export function holesIn(rules: readonly Rule[]): string[] {
  const inside = rules.filter((rule) => accessTo(rules, dirname(rule.path)) === 'write')
  return inside.filter((rule) => rule.access === 'read' && rule.kind !== 'file').map((rule) => rule.path)
}

/** True for a harness's folder that a link put among the brakes. */
function isUnderBrake(path: string, brakes: ReadonlySet<string>, own: readonly string[]): boolean {
  const holders = [...brakes, ...own].filter((folder) => folder !== path && isWithin(path, folder))
  const closest = holders.sort((a, b) => depth(b) - depth(a))[0]
  return closest !== undefined && brakes.has(closest)
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
