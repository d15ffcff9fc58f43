import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeTree } from '../system/remove.ts'
import { plainReason } from './atomic.ts'
import type { LoopPlaces } from './layout.ts'

/** Where a tick keeps one of its files. */
export function outputFile(places: LoopPlaces, tick: number, name: string): string {
  return join(places.outputs, `tick${tick}-${name}`)
}

/** The files that a tick has kept so far, sorted, with their whole paths. */
export function filesOfTick(places: LoopPlaces, tick: number): string[] {
  if (!lstatSync(places.outputs, { throwIfNoEntry: false })?.isDirectory()) return []
  const names = readdirSync(places.outputs).filter((name) => name.startsWith(`tick${tick}-`))
  return names.sort().map((name) => join(places.outputs, name))
}

/**
 * Removes the files of old ticks. `retention` is the number of tick groups to keep, counted down from the newest
 * that there is; 0 or less keeps all. Files of no tick stay. Returns warnings: what could not be removed, and why.
 */
export function collectGarbage(places: LoopPlaces, retention: number): string[] {
  if (retention <= 0) return []
  try {
    const stat = lstatSync(places.outputs, { throwIfNoEntry: false })
    if (!stat) return []
    if (!stat.isDirectory()) return [`cannot clean up ${places.outputs}: it is not a folder`]
    return removeOld(places.outputs, retention)
  } catch (error) {
    return [`cannot clean up ${places.outputs}: ${plainReason(error)}`]
  }
}

function removeOld(folder: string, retention: number): string[] {
  const warnings: string[] = []
  const files = readdirSync(folder).flatMap((name) => {
    const tick = Number(/^tick(\d+)-/.exec(name)?.[1] ?? Number.NaN)
    return Number.isSafeInteger(tick) ? [{ name, tick }] : []
  })
  const newest = files.reduce((most, { tick }) => Math.max(most, tick), 0)
  for (const { name, tick } of files) {
    if (tick >= newest - retention + 1) continue
    try {
      removeTree(join(folder, name))
    } catch (error) {
      warnings.push(`cannot remove ${join(folder, name)}: ${plainReason(error)}`)
    }
  }
  return warnings
}
