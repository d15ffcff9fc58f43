import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { root } from './compile.ts'

/** A package as `package-lock.json` pins it. */
export interface Pinned {
  name: string
  version: string
  /** `sha512-…`, of the package as npm serves it. */
  integrity: string
  license: string
}

const Lock = v.object({
  packages: v.record(
    v.string(),
    v.object({
      version: v.optional(v.string()),
      integrity: v.optional(v.pipe(v.string(), v.startsWith('sha512-'))),
      license: v.optional(v.string()),
    }),
  ),
})

/** The packages of the lock file by name; throws for a name that it does not pin. */
export function lockFile(): (name: string) => Pinned {
  const { packages } = v.parse(Lock, JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  return (name) => {
    const { version, integrity, license } = packages[`node_modules/${name}`] ?? {}
    if (!version || !integrity || !license) throw new Error(`package-lock.json does not pin ${name}`)
    return { name, version, integrity, license }
  }
}
