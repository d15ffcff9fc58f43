import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Pinned } from './lock-file.ts'

/**
 * Fetches packages through npm, from the registry that npm is set to, into a folder. Throws when one is not, byte for byte, what
 * the lock file pins. Returns where each one's archive lies. Packages of other systems than this one are fetched too, and
 * no script of theirs runs.
 */
export function fetchPackages(packages: readonly Pinned[], folder: string): Map<string, string> {
  const options = ['--silent', '--ignore-scripts', '--prefer-offline', '--pack-destination', folder]
  const wanted = packages.map(({ name, version }) => `${name}@${version}`)
  const npm = Bun.spawnSync(['npm', 'pack', ...options, ...wanted], { cwd: folder, stderr: 'inherit' })
  if (npm.exitCode !== 0) throw new Error(`npm pack ended with ${npm.exitCode}`)
  return new Map(packages.map((pinned) => [pinned.name, checked(pinned, folder)]))
}

/** Writes the one file of a package whose path matches into a folder, by its own name. Returns where it is. */
export async function unpack(o: { archive: string; path: string; folder: string }): Promise<string> {
  const files = await new Bun.Archive(readFileSync(o.archive)).files(`package/${o.path}`)
  const [found, another] = files
  if (!found || another) throw new Error(`${o.archive} has ${files.size} files like ${o.path}`)
  const [path, file] = found
  const to = join(o.folder, basename(path))
  writeFileSync(to, new Uint8Array(await file.arrayBuffer()), { mode: 0o755 })
  return to
}

/** Where npm has put a package. */
function checked({ name, version, integrity }: Pinned, folder: string): string {
  const archive = join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (found === integrity) return archive
  throw new Error(`${name}@${version} is not what package-lock.json pins: ${found}`)
}
