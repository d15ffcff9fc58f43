import * as v from 'valibot'
import { errors } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import { nearest } from '../machine/nearest.ts'
import { configError, dotted, parseConfig, worstOf } from './issues.ts'
import { loopSchema } from './schema.ts'

/** A `loop.json` that was read. */
export interface LoadedLoop {
  config: LoopConfig
  /** For people: unknown keys, values that were changed. */
  warnings: string[]
}

/**
 * Reads the text of a `loop.json`. Throws `bad_config` naming the file, the path in it, what was found and what is
 * allowed. `loop` is the name of its folder, if it lies in one: a copied folder must not pass for the loop it was.
 */
export function loadLoopConfig({
  file,
  text,
  loop,
}: {
  file: string
  text: string
  loop?: string
}): LoadedLoop {
  const input = parseConfig(file, text)
  const odd = oddities(loopSchema, input, [])
  const list = odd.find(({ kind }) => kind === 'list')
  if (list) throw errors.badConfig(file, list.path || 'the whole file', 'a list', 'a JSON object')
  const parsed = v.safeParse(loopSchema, input)
  if (!parsed.success) throw configError(file, worstOf(parsed.issues))
  const config: LoopConfig = parsed.output
  if (loop !== undefined && config.name !== loop) {
    throw errors.badConfig(file, 'name', JSON.stringify(config.name), `"${loop}", the name of the folder`)
  }
  return { config, warnings: [...odd.map(unknownKey), ...retentionWarning(input)] }
}

function unknownKey({ path, near }: Oddity): string {
  return `unknown key ${path} (kept, but nothing reads it; ${near === null ? 'is it a typo' : `did you mean "${near}"`}?)`
}

function retentionWarning(input: unknown): string[] {
  const retention = v.safeParse(v.object({ outputs: v.object({ retention: v.number() }) }), input)
  const negative = retention.success && retention.output.outputs.retention < 0
  return negative ? ['outputs.retention is negative and counts as 0: every tick is kept'] : []
}

/** Something that valibot lets pass: a key that no schema names, or a list in the place of an object. */
interface Oddity {
  kind: 'unknown' | 'list'
  path: string
  /** The key that was probably meant, or null. */
  near: string | null
}

/** Walks the schema beside the input, so that the list of known keys is the schema itself. */
function oddities(schema: object, input: unknown, path: readonly (string | number)[]): Oddity[] {
  if (!isObject(input)) return []
  const wrapped: unknown = Reflect.get(schema, 'wrapped')
  if (isObject(wrapped)) return oddities(wrapped, input, path)
  const item: unknown = Reflect.get(schema, 'item')
  const entries: unknown = Reflect.get(schema, 'entries')
  if (Array.isArray(input)) {
    const misplaced = isObject(entries) || Reflect.get(schema, 'type') === 'record'
    if (misplaced) return [{ kind: 'list', path: dotted(path), near: null }]
    return isObject(item) ? input.flatMap((value, index) => oddities(item, value, [...path, index])) : []
  }
  if (!isObject(entries)) return []
  const free = Object.keys(entries).filter((key) => !Object.hasOwn(input, key))
  return Object.entries(input).flatMap(([key, value]) => {
    const entry: unknown = Object.hasOwn(entries, key) ? Reflect.get(entries, key) : undefined
    if (isObject(entry)) return oddities(entry, value, [...path, key])
    return [{ kind: 'unknown' as const, path: dotted([...path, key]), near: nearest(key, free) }]
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
