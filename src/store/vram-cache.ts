import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { AutomatonError } from '../errors.ts'
import type { Detection } from '../machine/cards.ts'
import { ensureFolder, readBounded, writeAtomic } from './atomic.ts'
import type { Project } from './layout.ts'

/** How long a look at this machine's memory counts. */
export const cacheHours = 24

const limit = 256 * 1024

/** The file that keeps the last look at this machine's memory. */
export function vramCacheFile(project: Project): string {
  return join(project.cache, 'vram.json')
}

/**
 * The last look, if it is of this machine and counts still; what cannot be read does not count. Any program of this user
 * could write the file: it holds a size and no command, and what it says wrongly ends with its time.
 */
export function readVramCache(project: Project, now: Date): Detection | null {
  const parsed = v.safeParse(schema, parse(vramCacheFile(project)))
  if (!parsed.success) return null
  const { schema: _, host, ...detection } = parsed.output
  const age = now.getTime() - Date.parse(detection.at)
  // A clock that was put back would let it count for ever.
  return host === hostname() && age >= 0 && age < cacheHours * 3_600_000 ? detection : null
}

/** Keeps a look. Nothing is written where there is no `.automaton` yet. Throws `write_failed`. */
export function writeVramCache(project: Project, detection: Detection): void {
  if (!existsSync(project.automaton)) return
  ensureFolder(project.cache)
  const text = JSON.stringify({ schema: 1, host: hostname(), ...detection }, null, 2)
  writeAtomic(vramCacheFile(project), `${text}\n`)
}

const schema = v.object({
  schema: v.literal(1),
  host: v.string(),
  bytes: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1))),
  source: v.nullable(v.string()),
  device: v.nullable(v.string()),
  memory: v.nullable(v.picklist(['own', 'shared'])),
  tried: v.array(v.object({ probe: v.string(), outcome: v.string() })),
  at: v.pipe(v.string(), v.isoTimestamp()),
})

function parse(file: string): unknown {
  try {
    return JSON.parse(readBounded(file, limit) ?? 'null')
  } catch (error) {
    if (error instanceof AutomatonError || error instanceof SyntaxError) return null
    throw error
  }
}
