import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { parseTarGzip } from 'nanotar'
import { readSignature } from '../../release/codesign.ts'
import { compile, root, version } from '../../release/compile.ts'
import { headerOf } from '../../release/headers.ts'
import { installedAddon } from '../../release/simple-git.ts'
import { targetNames, targets } from '../../release/targets.ts'
import { tempDir } from '../helpers/temp.ts'
import { tool } from '../helpers/tools.ts'

/** The folder of a whole release; .ci/run makes it. */
const release = tool('TEST_RELEASE')

const read = (name: string) => readFileSync(join(release.path(), name))
const text = (name: string) => read(name).toString('utf8')
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
/** The packages whose code is in every binary. */
const bundled = ['@valibot/to-json-schema', 'cac', 'picocolors', 'valibot', 'zx']
const archiveName = (target: string) =>
  `automaton-${target}.${target.startsWith('windows') ? 'zip' : 'tar.gz'}`

/** The files of one archive by name. */
async function unpacked(target: string): Promise<Map<string, Buffer>> {
  const archive = read(archiveName(target))
  const files = target.startsWith('windows')
    ? unzip(archive)
    : (await parseTarGzip(archive)).map(({ name, data }) => [name, data ?? new Uint8Array()] as const)
  return new Map(files.map(([name, bytes]) => [name, Buffer.from(bytes)]))
}

release.test(
  'a release has one archive for each target, and lists with their true sizes and sums',
  async () => {
    const archives = targetNames.map(archiveName)
    const scripts = ['install.ps1', 'install.sh']
    const lists = ['SHA256SUMS', 'automaton.cdx.json', 'release.json', ...scripts]
    expect(readdirSync(release.path()).sort()).toEqual([...archives, ...lists].sort())
    const { files, ...rest } = JSON.parse(text('release.json'))
    expect(rest).toEqual({ version: version(), commit: expect.stringMatching(/^[0-9a-f]{40}(-dirty)?$/) })
    expect(files).toEqual(
      targetNames.map((target) => {
        const bytes = read(archiveName(target))
        return { name: archiveName(target), target, sha256: sha256(bytes), bytes: bytes.length }
      }),
    )
    const sums = [...archives, 'automaton.cdx.json', ...scripts].map(
      (name) => `${sha256(read(name))}  ${name}\n`,
    )
    expect(text('SHA256SUMS')).toBe(sums.join(''))
  },
  60_000,
)

for (const name of targetNames) {
  release.test(
    `the archive for ${name} holds a program for it, with its addon inside, and the licences`,
    async () => {
      const { os, cpu, libc } = targets[name]
      const files = await unpacked(name)
      const program = os === 'windows' ? 'automaton.exe' : 'automaton'
      expect([...files.keys()]).toEqual([program, 'LICENSE', 'THIRD-PARTY-NOTICES'])
      expect(files.get('LICENSE')?.equals(readFileSync(join(root, 'LICENSE')))).toBe(true)
      const others = files.get('THIRD-PARTY-NOTICES')?.toString('utf8')
      for (const other of [...bundled, targets[name].runtime, targets[name].addon])
        expect(others).toContain(`\n${other} `)
      const binary = files.get(program) ?? Buffer.alloc(0)
      expect(headerOf(binary)).toEqual({ os, cpu, ...(libc ? { libc } : {}) })
      expect(addonIn(binary)).toEqual({ os, cpu })
      if (os !== 'darwin') return
      expect(readSignature(binary)).toMatchObject({ adHoc: true, badPages: 0 })
    },
    60_000,
  )
}

release.test(
  'a program that is built again, in another folder, is the same to the last byte',
  async () => {
    using dir = tempDir()
    const runtime = Bun.resolveSync('bun/bin/bun.exe', root)
    const outfile = join(dir.path, 'automaton')
    const target = { name: targets['linux-x64'].compile, runtime }
    const built = await compile({ outfile, addon: installedAddon(), target })
    expect(built.success).toBe(true)
    const released = (await unpacked('linux-x64')).get('automaton') ?? Buffer.alloc(0)
    expect(sha256(readFileSync(outfile))).toBe(sha256(released))
  },
  60_000,
)

release.test(
  'the bill of materials names what is in the binaries, as the lock file pins it',
  async () => {
    const { components } = JSON.parse(text('automaton.cdx.json'))
    const names = components.map(({ purl }: { purl: string }) => purl.replace(/^pkg:npm\/|@[^@]*$/g, ''))
    const parts = targetNames.flatMap((name) => [targets[name].runtime, targets[name].addon])
    const all = [...bundled, ...new Set(parts.sort())]
    expect(names).toEqual(all.map((part) => part.replace('@', '%40')))
  },
  60_000,
)

/** What the addon of simple-git in a binary runs on; null where there is none. */
function addonIn(binary: Buffer): ReturnType<typeof headerOf> | null {
  const start = binary[0] === 0x4d ? Buffer.from('MZ\x90\0\x03', 'latin1') : binary.subarray(0, 4)
  for (let at = binary.indexOf(start, 1); at > 0; at = binary.indexOf(start, at + 1)) {
    const header = headerAt(binary.subarray(at, at + addonLimit))
    if (header && binary.subarray(at, at + addonLimit).includes('libgit2')) return header
  }
  return null
}

/** Bytes that an addon has at most. */
const addonLimit = 8_000_000

function headerAt(file: Buffer): ReturnType<typeof headerOf> | null {
  try {
    return headerOf(file)
  } catch {
    return null
  }
}

/** The files of a zip by its directory, inflated by zlib: a library in JavaScript takes half a minute. */
function unzip(archive: Buffer): [name: string, bytes: Uint8Array][] {
  const end = archive.lastIndexOf('PK\x05\x06')
  let at = archive.readUInt32LE(end + 16)
  return Array.from({ length: archive.readUInt16LE(end + 10) }, () => {
    const [size, nameLength, local] = [
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
      archive.readUInt32LE(at + 42),
    ]
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
    return [name, inflateRawSync(archive.subarray(start, start + size))]
  })
}
