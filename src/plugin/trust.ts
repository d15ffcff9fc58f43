import { lstatSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import * as v from 'valibot'
import { pluginRoles } from '../api/plugin.ts'
import { sha256 } from '../system/digest.ts'
import { isWindows } from '../system/platform.ts'
import type { PluginFile } from './files.ts'
import { read, readWithImports } from './imports.ts'
import type { ServedFile } from './serve.ts'

const hashes = v.record(v.string(), v.string())
const record = v.object({
  /** The plugin's file. */
  file: v.string(),
  /** What it said when it was trusted, so that the one that a loop names is found without running the others. */
  name: v.string(),
  role: v.nullable(v.picklist([...pluginRoles, 'hooks'])),
  needs_options: v.boolean(),
  /** SHA-256 by path relative to the file's folder. */
  files: hashes,
  /** The same for its test and what only that imports. */
  tests: hashes,
  trusted_at: v.string(),
  by: v.string(),
})
const book = v.object({ schema_version: v.literal(1), plugins: v.array(record) })

/** What a person trusted. */
export type TrustRecord = v.InferOutput<typeof record>

/** Every record, and why none counts, if so. */
export interface TrustBook {
  records: TrustRecord[]
  problem: string | null
}

/** Where it is written down what a person trusts. The folder is outside of every loop's scope, HOME's own loops included. */
export function trustFile(home: string): string {
  return join(home, '.automaton', 'trust.json')
}

/**
 * Reads the record of trust. One that came with a repository, or that others could have written, does not count: git
 * makes files that others may read, and automaton does not.
 */
export function readTrust(home: string): TrustBook {
  const file = trustFile(home)
  const none = (problem: string | null): TrustBook => ({ records: [], problem })
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false })
    if (!stat) return none(null)
    if (!stat.isFile()) return none(`${file} is no plain file`)
    if (!isWindows && ((stat.mode & 0o077) !== 0 || stat.uid !== userInfo().uid))
      return none(`${file} is not this user's alone, so nothing in it counts`)
    return { records: v.parse(book, JSON.parse(readFileSync(file, 'utf8'))).plugins, problem: null }
  } catch {
    return none(`${file} cannot be read`)
  }
}

/** The text of the file with one plugin's record in place of its last one. */
export function trustText({ records }: TrustBook, added: TrustRecord): string {
  const plugins = [...records.filter(({ file }) => file !== added.file), added].sort((a, b) =>
    a.file < b.file ? -1 : 1,
  )
  return `${JSON.stringify({ schema_version: 1, plugins }, null, 2)}\n`
}

/** What a plugin consists of now, for a new record. Throws a plain error with the reason why it cannot be trusted. */
export function hashPlugin({ real, test }: PluginFile): Pick<TrustRecord, 'files' | 'tests'> & {
  served: ServedFile[]
} {
  const files = readWithImports(real)
  const tests = test === null ? new Map<string, Uint8Array>() : readWithImports(test)
  const hash = (bytes: Map<string, Uint8Array>) =>
    Object.fromEntries([...bytes].map(([path, data]) => [keyOf(real, path), sha256(data)]))
  return {
    files: hash(files),
    tests: hash(new Map([...tests].filter(([path]) => !files.has(path)))),
    served: [...files, ...tests].map(([path, data]) => ({ path, text: textOf(data) })),
  }
}

/** What kept a plugin from being used as it was trusted. */
export type Distrust = { stage: 'trust' | 'resolve'; why: string }

/** A plugin's files as they were trusted, read once: what is served is what was compared. */
export function trustedFiles(
  { real }: PluginFile,
  found: TrustRecord | undefined,
  withTests: boolean,
): ServedFile[] | Distrust {
  if (!found) return { stage: 'trust', why: 'nobody has trusted it yet' }
  const served: ServedFile[] = []
  const wanted = { ...found.files, ...(withTests ? found.tests : {}) }
  for (const [key, hash] of Object.entries(wanted)) {
    const path = resolve(dirname(real), key)
    try {
      const data = read(path)
      if (sha256(data) !== hash) return { stage: 'trust', why: `${key} has changed since it was trusted` }
      served.push({ path, text: textOf(data) })
    } catch (error) {
      return { stage: 'resolve', why: error instanceof Error ? error.message : String(error) }
    }
  }
  if (!served.some(({ path }) => path === real))
    return { stage: 'trust', why: 'it is a link that leads to another file than it did' }
  return served
}

function keyOf(real: string, path: string): string {
  return relative(dirname(real), path).split(sep).join('/')
}

function textOf(data: Uint8Array): string {
  return Buffer.from(data).toString('utf8')
}
