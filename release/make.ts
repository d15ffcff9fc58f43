import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tarGz, zip } from './archive.ts'
import { readSignature, signAdHoc } from './codesign.ts'
import { compile, root } from './compile.ts'
import { headerOf } from './headers.ts'
import type { Pinned } from './lock-file.ts'
import { notices } from './notices.ts'
import { unpack } from './packages.ts'
import type { Target } from './targets.ts'

/** One archive of a release, as `release.json` lists it. */
export interface ReleasedFile {
  name: string
  target: string
  sha256: string
  bytes: number
}

/** What the archive of one target was made of. */
export interface Made {
  file: ReleasedFile
  /** npm packages whose code Bun put into the binary. */
  bundled: string[]
  /** Bytes of the binary. */
  size: number
}

/** How to make the archive of one target. */
export interface MakeOptions {
  /** The fetched npm packages, by name. */
  packages: ReadonlyMap<string, string>
  /** What the lock file says of a package. */
  pinned: (name: string) => Pinned
  /** An empty folder for what is made on the way. */
  folder: string
  out: string
  /** Seconds since 1970, for the files in the archive. */
  time: number
}

/** Builds the binary of one target, checks that it is what it should be, and writes its archive. */
export async function makeTarget(
  target: Target,
  { packages, pinned, folder, out, time }: MakeOptions,
): Promise<Made> {
  const runtime = await unpack({ archive: archiveOf(target.runtime), path: 'bin/bun*', folder })
  const addon = await unpack({ archive: archiveOf(target.addon), path: '*.node', folder })
  // The files' names are in the binary's bytes, so they are the same wherever it is built.
  const program = target.os === 'windows' ? 'automaton.exe' : 'automaton'
  const outfile = join(folder, program)
  const built = await compile({ outfile, addon, target: { name: target.compile, runtime } })
  if (!built.success) throw new Error(`${target.name} does not build: ${built.logs.map(String).join('\n')}`)
  const binary = signed(target, readFileSync(outfile))
  check(target, binary, readFileSync(addon))
  const bundled = packagesIn(Object.keys(built.metafile?.inputs ?? {}))
  const others = [...bundled, target.addon, target.runtime].map(pinned)
  const entries = [
    { name: program, bytes: binary, executable: true },
    { name: 'LICENSE', bytes: readFileSync(join(root, 'LICENSE')), executable: false },
    { name: 'THIRD-PARTY-NOTICES', bytes: Buffer.from(notices(others)), executable: false },
  ]
  const [bytes, end] =
    target.os === 'windows' ? [await zip(entries, time), 'zip'] : [await tarGz(entries, time), 'tar.gz']
  const name = `automaton-${target.name}.${end}`
  writeFileSync(join(out, name), bytes)
  const file = { name, target: target.name, sha256: sha256(bytes), bytes: bytes.length }
  return { file, bundled, size: binary.length }

  function archiveOf(name: string): string {
    const archive = packages.get(name)
    if (!archive) throw new Error(`${name} was not fetched`)
    return archive
  }
}

/** SHA-256 in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function signed(target: Target, binary: Buffer): Buffer {
  if (target.os !== 'darwin') return binary
  const { adHoc, badPages } = readSignature(binary)
  return adHoc && badPages === 0 ? binary : signAdHoc(binary, 'automaton')
}

/** A package for another system, or none, would only be noticed by whoever runs the binary. */
function check({ name, ...target }: Target, binary: Buffer, addon: Buffer): void {
  for (const [what, file] of [
    ['binary', binary],
    ['addon', addon],
  ] as const) {
    const { os, cpu, libc = target.libc } = headerOf(file)
    if (os !== target.os || cpu !== target.cpu || libc !== target.libc) {
      throw new Error(`the ${what} for ${name} is for ${os} ${cpu} ${libc ?? ''}`)
    }
  }
  if (!binary.includes(addon)) throw new Error(`the binary for ${name} lacks its simple-git addon`)
}

function packagesIn(inputs: readonly string[]): string[] {
  const names = inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
  return [...new Set(names)].sort()
}
